"""The recorder of calls on the emulated device."""

from __future__ import annotations

import time

from fictl.profile.cupti.recording import record_calls
from fictl.profile.ranks.emulated import EmulatedRecorder
from fictl.timing.rotation import Rotation


def test_a_call_is_one_span_as_long_as_it_took():
    turn = Rotation("op", (lambda: time.sleep(0.002),), cold=False)
    profile = record_calls(turn, 3, EmulatedRecorder("op"))
    assert [work.call for work in profile.work] == [0, 1, 2]
    assert all(work.seconds >= 0.002 for work in profile.work)
    assert (profile.kernels, profile.copies) == ([], [])
