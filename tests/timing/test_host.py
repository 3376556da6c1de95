"""The host's clock as a timer."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

from fictl.timing import host
from fictl.timing.host import Host
from fictl.timing.rotation import Rotation


def test_a_round_is_the_mean_of_its_calls(monkeypatch):
    ticks = count(10.0, 0.002)
    monkeypatch.setattr(host, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    with Host() as timer:
        seconds = timer.time(Rotation("op", (lambda: None, lambda: None), cold=False))
    assert abs(seconds - 0.001) < 1e-9
