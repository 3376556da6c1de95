"""How CUPTI is begun and ended, and what it says where it cannot be."""

from __future__ import annotations

import pytest
import torch

from fictl.timing.activity import Recording
from fictl.timing.timer import Unusable


def test_nothing_of_it_is_left_when_a_call_fails(cupti):
    def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Recording() as recording:
        recording.run(0, fails)
    assert (cupti.enabled, cupti.regions, cupti.finalized) == ([], [], 1)


def test_it_can_be_begun_again_after_its_end(cupti, gpu):
    for _ in range(2):
        with Recording() as recording:
            recording.run(0, lambda: gpu.launch("a", 1e-6))
            assert len(recording.take() or []) == 1
    assert cupti.finalized == 2


@pytest.mark.parametrize(
    ("refusal", "hint"),
    [
        ("ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)", "another profiler"),
        ("ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)", "compute-sanitizer"),
        ("ERROR_INSUFFICIENT_PRIVILEGES (35)", "SYS_ADMIN"),
        ("ERROR_NOT_INITIALIZED (15)", "driver is older"),
        ("CUDA driver is not found", "fictl doctor"),
    ],
)
def test_a_refusal_is_told_with_what_to_do(cupti, refusal, hint):
    cupti.refuses = refusal
    with pytest.raises(Unusable) as raised, Recording():
        pass
    assert refusal in raised.value.message
    assert hint in raised.value.hint


def test_a_refusal_leaves_the_cupti_of_another_alone(cupti):
    cupti.refuses = "ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)"
    with pytest.raises(Unusable), Recording():
        pass
    assert cupti.finalized == 0


def test_what_was_begun_before_a_refusal_is_ended(cupti, monkeypatch):
    begin = cupti.activity_enable

    def refuses_the_second(kind):
        cupti.refuses = "ERROR_HARDWARE_BUSY (26)" if cupti.enabled else ""
        begin(kind)

    monkeypatch.setattr(cupti, "activity_enable", refuses_the_second)
    with pytest.raises(Unusable, match="HARDWARE_BUSY"), Recording():
        pass
    assert (cupti.enabled, cupti.finalized) == ([], 1)


def test_beside_the_profiler_of_torch_it_is_unusable(cupti):
    with (
        torch.autograd.profiler.profile(),
        pytest.raises(Unusable, match=r"torch\.profiler"),
        Recording(),
    ):
        pass


def test_without_cupti_python_it_says_how_to_get_it(no_cupti):
    with pytest.raises(Unusable) as raised, Recording():
        pass
    assert "pip install" in raised.value.hint


def test_of_two_at_once_the_second_is_refused(cupti):
    with Recording():
        with pytest.raises(Unusable, match="records by CUPTI already"), Recording():
            pass
        assert cupti.enabled
    assert cupti.finalized == 1
