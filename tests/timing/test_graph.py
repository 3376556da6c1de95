"""A CUDA graph of all calls as a timer."""

from __future__ import annotations

import pytest
import torch

from fictl.timing.graph import Graph
from fictl.timing.rotation import Rotation
from fictl.timing.timer import LaunchedNothing, TooShort, Unusable

US = 1e-6


def test_the_time_of_a_call_is_its_share_of_the_replay(rotate):
    with Graph() as timer:
        assert timer.time(rotate(("a", 400 * US), copies=3)) == pytest.approx(400.1 * US)


def test_the_flushes_between_calls_are_timed_alone_and_taken_off(rotate):
    with Graph() as timer:
        assert timer.time(rotate(("a", 5 * US), flush=True)) == pytest.approx(5.1 * US)


def test_a_call_that_vanishes_beside_its_flush_is_not_timed(rotate):
    with pytest.raises(TooShort, match="too short"), Graph() as timer:
        timer.time(rotate(flush=True))


def test_it_is_captured_once(gpu, rotate, monkeypatch):
    rotation = rotate(("a", 400 * US))
    with Graph() as timer:
        timer.time(rotation)
        monkeypatch.delattr(torch.cuda, "CUDAGraph")
        timer.time(rotation)


def test_every_copy_has_run_before_it_is_captured(gpu):
    ran = set()

    def call(index: int) -> None:
        assert gpu.capturing is None or index in ran
        ran.add(index)
        gpu.launch("a", 400 * US)

    with Graph() as timer:
        timer.time(Rotation("op", (lambda: call(0), lambda: call(1)), cold=True))


def test_what_cannot_be_captured_makes_it_unusable_and_says_why(gpu):
    def synchronizes() -> None:
        if gpu.capturing is not None:
            raise RuntimeError("operation not permitted when stream is capturing\nmore of it")

    with pytest.raises(Unusable) as raised, Graph() as timer:
        timer.time(Rotation("op", (synchronizes,), cold=True))
    assert raised.value.message == (
        "op does not go into a CUDA graph: operation not permitted when stream is capturing"
    )


def test_what_launches_nothing_is_an_error_that_names_it(rotate):
    with pytest.raises(LaunchedNothing, match="op: it launched nothing"), Graph() as timer:
        timer.time(rotate())


def test_an_error_of_the_call_itself_is_its_own(gpu):
    def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Graph() as timer:
        timer.time(Rotation("op", (fails,), cold=True))


@pytest.mark.needs_gpu
def test_a_gpu_goes_on_after_a_failed_capture():
    x = torch.zeros(1 << 20, device="cuda")
    waits = Rotation("waits", (lambda: x.sum().item(),), cold=False)
    adds = Rotation("adds", (lambda: x.add_(1),), cold=False)
    with Graph() as timer:
        with pytest.raises(Unusable, match="waits does not go into a CUDA graph"):
            timer.time(waits)
        assert 1e-7 < timer.time(adds) < 1e-3
    assert torch.zeros(3, device="cuda").sum().item() == 0
