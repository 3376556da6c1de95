from __future__ import annotations

import json
import math
from typing import Any

import pytest
from pydantic import ValidationError

from fictl.trace import Correctness, Evaluation, EvaluationStatus, Performance

SAID: dict[str, Any] = {"environment": {"hardware": "H"}, "timestamp": "t"}
BOTH = {"correctness": {}, "performance": {}}
DEMANDED = {
    "PASSED": ({"correctness", "performance"}, {"correctness", "performance"}),
    "INCORRECT_NUMERICAL": ({"correctness"}, {"correctness"}),
    "REWARD_HACK": (set(), {"correctness", "performance"}),
    "INVALID_REFERENCE": (set(), {"correctness", "performance"}),
}


@pytest.mark.parametrize("status", [each.value for each in EvaluationStatus])
@pytest.mark.parametrize(
    "parts",
    [set(), {"correctness"}, {"performance"}, {*BOTH}],
    ids=lambda parts: "+".join(sorted(parts)),
)
def test_a_status_demands_its_parts_and_no_others(status: str, parts: set[str]) -> None:
    least, most = DEMANDED.get(status, (set(), set()))
    document = {"status": status, **SAID, **{part: BOTH[part] for part in parts}}
    if least <= parts <= most:
        assert Evaluation.model_validate(document).status == status
    else:
        with pytest.raises(ValidationError, match=f"{status} (needs|has no) "):
            Evaluation.model_validate(document)


def test_what_is_not_finite_is_written_as_words_and_read_again() -> None:
    made = Correctness(
        max_relative_error=math.nan, max_absolute_error=math.inf, extra={"a": -math.inf}
    )
    text = made.model_dump_json()
    assert json.loads(text) == {
        "max_relative_error": "NaN",
        "max_absolute_error": "Infinity",
        "extra": {"a": "-Infinity"},
    }
    assert made.model_dump(mode="json") == json.loads(text)
    read = Correctness.model_validate_json(text)
    assert math.isnan(read.max_relative_error)
    assert read.max_absolute_error == math.inf


@pytest.mark.parametrize("value", [-1.0, "-Infinity", "-inf", "12", "nano", None, True])
def test_an_error_is_a_number_from_0(value: Any) -> None:
    with pytest.raises(ValidationError):
        Correctness(max_relative_error=value)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *((word, math.nan) for word in ("NaN", "nan", "NAN", " nan ", "-nan")),
        *((word, math.inf) for word in ("Infinity", "infinity", "inf", "+inf", "INF")),
    ],
)
def test_what_json_lacks_is_read_as_flashinfer_bench_reads_it(word: str, value: float) -> None:
    """And written as it writes it."""
    read = Correctness(max_relative_error=word)
    assert read.max_relative_error == pytest.approx(value, nan_ok=True)
    written = json.loads(read.model_dump_json())["max_relative_error"]
    assert written == ("NaN" if math.isnan(value) else "Infinity")


def test_what_flashinfer_bench_adds_to_a_performance_is_kept() -> None:
    document = {
        "latency_ms": 1.0,
        "reference_latency_ms": 2.0,
        "speedup_factor": 2.0,
        "profile": [{"name": "k"}],
    }
    assert Performance.model_validate(document).model_dump(mode="json") == document
