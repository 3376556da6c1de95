"""CUPTI as a timer, on records that it could have made."""

from __future__ import annotations

import pytest
import torch

from fictl.timing.activity import Activity
from fictl.timing.cupti import Cupti, spans
from fictl.timing.rotation import Rotation
from fictl.timing.timer import LaunchedNothing, Unusable

US = 1e-6


def test_a_call_takes_from_its_first_kernel_to_its_last(cupti, rotate):
    with Cupti() as timer:
        seconds = timer.time(rotate(("a", 3 * US), ("b", 4 * US)))
    assert seconds == pytest.approx(7.1 * US)


def test_a_flush_before_each_call_is_no_part_of_it(cupti, rotate):
    with Cupti() as timer:
        assert timer.time(rotate(("a", 3 * US), flush=True)) == pytest.approx(3 * US)


def test_each_kernel_is_told_apart_with_its_launches_in_one_call(cupti, rotate):
    rotation = rotate(("_Z3fooi", 3 * US), ("b", 4 * US), ("b", 4 * US), copies=5)
    with Cupti() as timer:
        timer.time(rotation)
        timer.time(rotation)
    foo, b = timer.kernels(rotation)
    assert (foo.name, foo.calls, b.name, b.calls) == ("foo", 1, "b", 2)
    assert foo.seconds == pytest.approx(3 * US)


def test_overlap_with_the_call_before_is_counted_once():
    overlapping = [Activity("a", 0, 1000, call=0), Activity("a", 900, 1900, call=1)]
    assert spans(overlapping) == pytest.approx([1000e-9, 900e-9])


def test_kernels_of_one_call_that_overlap_are_one_span():
    assert spans([Activity("a", 0, 1000, 0), Activity("b", 500, 1500, 0)]) == [1500e-9]


def test_a_round_whose_records_were_dropped_is_timed_again_and_said(cupti, rotate):
    with Cupti() as timer:
        cupti.dropped = [4]
        assert timer.time(rotate(("a", 3 * US))) == pytest.approx(3 * US)
    assert timer.remark() == "1 rounds thrown away: CUPTI lost records"


def test_a_call_without_a_record_makes_the_round_count_for_nothing(cupti, gpu):
    names = iter(["lost", "a", "a", "a"])
    cupti.loses = {"lost"}
    rotation = Rotation("op", (lambda: gpu.launch(next(names), US),) * 2, cold=True)
    with Cupti() as timer:
        timer.time(rotation)
    assert timer.remark()


def test_records_lost_again_and_again_make_it_unusable(cupti, rotate):
    with pytest.raises(Unusable, match="lost records of op in 4 rounds"), Cupti() as timer:
        cupti.dropped = [1] * 10
        timer.time(rotate(("a", 3 * US)))


def test_what_launches_nothing_is_an_error_that_names_it(cupti, rotate):
    with pytest.raises(LaunchedNothing, match="op: it launched nothing"), Cupti() as timer:
        timer.time(rotate())


def test_a_cupti_that_records_nothing_is_unusable_and_taken_down(cupti):
    cupti.loses = {"probe"}
    with pytest.raises(Unusable, match="records no kernel"), Cupti():
        pass
    assert (cupti.enabled, cupti.finalized) == ([], 1)


@pytest.mark.needs_gpu
def test_a_gpu_tells_which_kernel_ran():
    pytest.importorskip("cupti")
    x = torch.zeros(1 << 20, device="cuda")
    rotation = Rotation("op", (lambda: x.add_(1), lambda: x.add_(1)), cold=False)
    with Cupti() as timer:
        assert 1e-6 < timer.time(rotation) < 1e-3
    (kernel,) = timer.kernels(rotation)
    assert kernel.calls == 1
    assert "elementwise" in kernel.name
