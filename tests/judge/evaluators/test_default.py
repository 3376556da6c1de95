from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from fictl.judge.evaluators.verdict import Verdict, worst
from fictl.trace import Correctness, EvaluationStatus

from .samples import definition, evaluator

NAN, INF = float("nan"), float("inf")


def check(got: Any, wanted: Any, dtype: str = "float32", **config: Any) -> Verdict:
    """Lists are of the output's dtype, and of fp64 where they are expected."""
    kind = getattr(torch, dtype)
    actual = got if isinstance(got, torch.Tensor) else torch.tensor(got, dtype=kind)
    expected = wanted if isinstance(wanted, torch.Tensor) else torch.tensor(wanted).double()
    return evaluator(definition(dtype), **config).check({"y": actual}, {"y": expected}, {})


def status(*args: Any, **more: Any) -> str:
    return check(*args, **more).status.value.removeprefix("INCORRECT_")


@pytest.mark.parametrize(
    ("got", "wanted", "found"),
    [
        ([1.0, 2.0], [1.0, 2.0], "PASSED"),
        ([1.0, 2.009], [1.0, 2.0], "PASSED"),  # below both tolerances
        ([1.0, 205.0], [1.0, 203.5], "PASSED"),  # above atol, below rtol
        ([1.0, 0.005], [1.0, 0.001], "PASSED"),  # above rtol, below atol
        ([1.0, 2.05], [1.0, 2.0], "NUMERICAL"),
        ([1.0, NAN], [1.0, 2.0], "NUMERICAL"),
        ([1.0, INF], [1.0, 2.0], "NUMERICAL"),
        ([1.0, 2.0], [1.0, NAN], "NUMERICAL"),
        ([1.0, NAN], [1.0, NAN], "PASSED"),
        ([1.0, -INF], [1.0, -INF], "PASSED"),
        ([1.0, INF], [1.0, -INF], "NUMERICAL"),
        ([1.0, INF], [1.0, 1e300], "PASSED"),  # what fp32 makes of it
        ([0.0, 0.0], [1e-4, 2e-4], "NUMERICAL"),  # all zeros
        ([-0.0, 0.0], [0.0, 0.0], "PASSED"),
        ([], [], "PASSED"),
    ],
)
def test_an_element_fails_where_both_errors_are_too_large(
    got: list[float], wanted: list[float], found: str
) -> None:
    assert status(got, wanted) == found


def test_a_tolerance_that_zeros_would_pass_is_made_relative() -> None:
    """As of probabilities over a vocabulary, of which each is far below the tolerance."""
    wanted = torch.full((1000,), 1e-3, dtype=torch.float64)
    assert status((wanted * 1.005).float(), wanted) == "PASSED"
    verdict = check(wanted.flip(0).float() * 2, wanted)
    assert not verdict.passed
    assert verdict.correctness is not None
    assert verdict.correctness.extra == {"matched_ratio": 0.0, "atol": pytest.approx(1e-5)}


def test_the_verdict_says_how_far_off_and_where() -> None:
    verdict = check([1.0, 5.0, 2.0, 9.0], [1.0, 4.0, 2.0, 3.0])
    assert verdict.note == (
        "y: 2 of 4 elements differ; worst at 3: 9, reference 3 (rtol 0.01, atol 0.01)"
    )
    assert verdict.correctness is not None
    assert verdict.correctness.max_absolute_error == 6
    assert verdict.correctness.max_relative_error == pytest.approx(2)
    assert verdict.correctness.extra == {"matched_ratio": 0.5}


def test_a_share_of_elements_may_differ_where_that_is_configured() -> None:
    wanted = torch.arange(1, 101).double()
    got = wanted.float()
    got[:5] += 3
    assert status(got, wanted) == "NUMERICAL"
    assert status(got, wanted, required_matched_ratio=0.95) == "PASSED"
    assert status(got, wanted, required_matched_ratio=0.96) == "NUMERICAL"


def test_no_share_lets_a_nan_pass() -> None:
    got = torch.ones(100)
    got[3] = NAN
    verdict = check(got, torch.ones(100).double(), required_matched_ratio=0.5)
    assert not verdict.passed
    assert verdict.correctness is not None
    assert math.isinf(verdict.correctness.max_absolute_error)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_whole_numbers_are_right_or_wrong(dtype: str) -> None:
    """flashinfer-bench takes 1001 for 1000: token 1001 is another word."""
    wanted = [1, 1, 0] if dtype == "bool" else [1, 100, 1000 if dtype != "uint8" else 200]
    assert status(wanted, wanted, dtype=dtype) == "PASSED"
    assert status([*wanted[:2], wanted[2] + 1], wanted, dtype=dtype) == "NUMERICAL"


def test_a_quantised_value_may_round_the_other_way() -> None:
    assert status([5, 100], [6, 100], dtype="int8") == "PASSED"
    assert status([5, 100], [7, 100], dtype="int8") == "NUMERICAL"


def test_shape_and_dtype_are_the_definitions() -> None:
    wanted = torch.ones(4, dtype=torch.float64)
    shape = check(torch.ones(2, 2), wanted)
    assert (shape.status.value, shape.note) == (
        "INCORRECT_SHAPE",
        "y has shape [2, 2], the reference [4]",
    )
    dtype = check(torch.ones(4).half(), wanted)
    assert (dtype.status.value, dtype.note) == (
        "INCORRECT_DTYPE",
        "y is torch.float16, its definition says torch.float32",
    )
    assert (dtype.correctness, shape.correctness) == (None, None)


def test_a_missing_output_is_said() -> None:
    verdict = evaluator().check({}, {"y": torch.ones(1)}, {})
    assert (verdict.status.value, verdict.note) == ("INCORRECT_SHAPE", "there is no output y")


def test_a_wrong_shape_counts_before_a_wrong_value() -> None:
    spec = {"shape": ["n"], "dtype": "float32"}
    two = definition(outputs={"y": spec, "z": spec})
    wanted = {"y": torch.ones(2), "z": torch.ones(2)}
    verdict = evaluator(two).check({"y": torch.zeros(2), "z": torch.ones(3)}, wanted, {})
    assert verdict.status is EvaluationStatus.INCORRECT_SHAPE


@pytest.mark.parametrize(
    ("got", "config", "found"),
    [
        (2.014, {}, "PASSED"),  # 0.01 + 0.01 * 1
        (2.025, {}, "PASSED"),
        (2.04, {}, "NUMERICAL"),
        (2.02, {"max_error_cap": 0.01}, "NUMERICAL"),
        (-INF, {}, "NUMERICAL"),
        (-INF, {"allow_negative_inf": True}, "PASSED"),
    ],
)
def test_a_workloads_own_tolerance_is_a_sum(got: float, config: dict[str, Any], found: str) -> None:
    assert status([2.0, got], [2.0, 2.0], formula="sum", **config) == found


def test_a_cap_holds_for_those_that_need_not_match() -> None:
    got = torch.ones(100)
    got[0] = 3.0
    common = {"formula": "sum", "required_matched_ratio": 0.9}
    assert status(got, torch.ones(100).double(), **common) == "PASSED"
    capped = check(got, torch.ones(100).double(), **common, max_error_cap=1.0)
    assert capped.note == "y: 1 of 100 elements are off by more than 1"


def test_tensors_beyond_one_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.judge.evaluators.errors._CHUNK", 8)
    wanted = torch.arange(1, 31).double()
    got = wanted.float()
    got[25] = 0
    assert check(got.reshape(5, 6), wanted.reshape(5, 6)).note.startswith(
        "y: 1 of 30 elements differ; worst at 25: 0, reference 26"
    )


def test_packed_outputs_are_compared_value_by_value() -> None:
    wanted = torch.tensor([0x21, 0x43], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    other = torch.tensor([0x21, 0x47], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    ours = evaluator(definition("float4_e2m1"))
    assert ours.check({"y": wanted}, {"y": wanted}, {}).passed
    verdict = ours.check({"y": other}, {"y": wanted}, {})
    assert verdict.note.startswith("y: 1 of 4 elements differ")
    assert "6, reference 1.5" in verdict.note


def test_eight_bits_may_saturate_where_the_reference_is_beyond_them() -> None:
    kind = torch.float8_e4m3fn
    got = torch.tensor([448.0, 1.0]).to(kind)
    wanted = torch.tensor([1e6, 1.0]).double()
    assert evaluator(definition("float8_e4m3fn")).check({"y": got}, {"y": wanted}, {}).passed


def test_all_rounds_together_are_as_good_as_the_worst() -> None:
    def verdict(status: str, error: float) -> Verdict:
        found = Correctness(max_relative_error=error, max_absolute_error=2 * error)
        return Verdict(EvaluationStatus(status), found, status)

    whole = worst([verdict("PASSED", 3.0), verdict("INCORRECT_NUMERICAL", 1.0)])
    assert whole.note == "INCORRECT_NUMERICAL"
    assert whole.correctness is not None
    assert whole.correctness.max_absolute_error == 6
