"""The host's clock as a timer."""

from __future__ import annotations

import time

from fictl.timing.host import Host
from fictl.timing.rotation import Rotation


def test_a_round_is_the_mean_of_its_calls():
    calls = (lambda: time.sleep(0.002), lambda: None)
    with Host() as timer:
        seconds = timer.time(Rotation("op", calls, cold=False))
    assert 0.001 <= seconds < 0.01
