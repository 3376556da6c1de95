from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from fictl.trace import ScalarInput, Tolerance, Trace, Workload

GOOD: dict[str, Any] = {
    "axes": {"n": 3},
    "inputs": {"x": {"type": "custom"}, "k": {"type": "scalar", "value": 5}},
    "uuid": "u1",
    "tolerance": {
        "max_atol": 0.1,
        "max_rtol": 0.2,
        "required_matched_ratio": 0.99,
        "allow_negative_inf": True,
        "why": "quantized",
    },
}


def test_a_workload_is_written_as_it_was_read() -> None:
    assert Workload.model_validate(GOOD).model_dump(mode="json") == GOOD


def test_its_numbers_are_known_by_name() -> None:
    assert Workload.model_validate(GOOD).scalars() == {"k": 5}


@pytest.mark.parametrize("value", [1, True, 2.5])
def test_a_scalar_keeps_its_type(value: float) -> None:
    assert type(ScalarInput.model_validate({"value": value}).value) is type(value)


def test_a_scalar_may_be_a_word_for_a_number() -> None:
    assert ScalarInput.model_validate({"value": "-Infinity"}).value == float("-inf")


@pytest.mark.parametrize("ratio", [-0.1, 1.1, "1"])
def test_a_ratio_is_a_share(ratio: Any) -> None:
    with pytest.raises(ValidationError):
        Tolerance(required_matched_ratio=ratio)


def test_a_trace_without_a_solution_is_a_workload() -> None:
    trace = Trace(definition="d", workload=Workload.model_validate(GOOD))
    assert trace.is_workload_trace()
    assert not trace.is_successful()
    assert trace.to_line().endswith('"solution":null,"evaluation":null}\n')
