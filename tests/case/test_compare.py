from __future__ import annotations

from math import inf, nan

import pytest
import torch

from fictl.case.compare import assert_right
from fictl.testing import assert_close, poisoned_allocations
from fictl.trace import Tensor, TraceTemplate


def compare(actual: list[float], expected: list[float], dtype: torch.dtype = torch.float32) -> None:
    assert_close(torch.tensor(actual, dtype=dtype), torch.tensor(expected, dtype=torch.float64))


def test_results_are_right_that_are_near_the_reference() -> None:
    template = TraceTemplate({}, {}, {"a": Tensor(()), "b": Tensor(())}, lambda: None)
    assert_right(template, {}, {"b": 2.0, "a": 1.0}, lambda: (1.0, 2.0))
    with pytest.raises(AssertionError, match=r"b: 1 of 1 elements differ"):
        assert_right(template, {}, {"b": 1.0, "a": 1.0}, lambda: (1.0, 2.0))


def test_where_there_is_a_judge_it_is_asked_and_the_reference_is_not() -> None:
    asked = []
    template = TraceTemplate({}, {}, {}, lambda: None, judge=lambda *both: asked.append(both))
    assert_right(template, {"x": 1}, {"out": 2}, lambda: pytest.fail("the reference is asked"))
    assert asked == [({"x": 1}, {"out": 2})]


def test_equal_tensors_pass() -> None:
    compare([1.0, inf, -inf, nan], [1.0, inf, -inf, nan])


def test_empty_tensors_pass() -> None:
    assert_close(torch.empty(0, 4), torch.empty(0, 4, dtype=torch.float64))


def test_a_number_is_compared_as_a_tensor_is() -> None:
    assert_close(6, 6)
    with pytest.raises(AssertionError, match=r"out: 1 of 1 elements differ"):
        assert_close(6, 7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_one_rounding_of_the_format_passes(dtype: torch.dtype) -> None:
    exact = torch.linspace(-3, 3, 1001, dtype=torch.float64)
    assert_close(exact.to(dtype), exact)


def test_the_dtype_of_the_result_decides_the_tolerance() -> None:
    compare([1.01], [1.0], torch.bfloat16)
    with pytest.raises(AssertionError, match=r"float16: rtol 0\.002"):
        compare([1.01], [1.0], torch.float16)


def test_integers_are_equal_or_wrong() -> None:
    with pytest.raises(AssertionError, match="int32: rtol 0, atol 0"):
        compare([3], [4], torch.int32)


def test_the_worst_element_is_named_with_both_values() -> None:
    actual = torch.zeros(2, 3)
    actual[0, 1], actual[1, 2] = 0.5, 7.0
    with pytest.raises(AssertionError) as info:
        assert_close(actual, torch.zeros(2, 3, dtype=torch.float64), "lse")
    assert str(info.value).startswith(
        "lse: 2 of 6 elements differ; worst at (1, 2): 7, reference 0 "
    )


@pytest.mark.parametrize(
    ("actual", "expected"), [(nan, 1.0), (1.0, nan), (inf, 1.0), (inf, -inf), (65504.0, inf)]
)
def test_nan_and_infinities_stand_in_the_same_places(actual: float, expected: float) -> None:
    with pytest.raises(AssertionError, match=r"1 of 3 elements differ; worst at \(1,\)"):
        compare([0.0, actual, 2.0], [0.0, expected, 2.0])


def test_a_nan_is_worse_than_any_number() -> None:
    with pytest.raises(AssertionError, match=r"2 of 3 .* worst at \(2,\): nan"):
        compare([1e30, 0.0, nan], [0.0, 0.0, 0.0])


def test_one_number_is_compared_as_well() -> None:
    with pytest.raises(AssertionError, match=r"1 of 1 elements differ; worst at \(\): 2"):
        assert_close(torch.tensor(2.0), torch.tensor(1.0, dtype=torch.float64))


def test_a_shape_that_would_broadcast_is_wrong() -> None:
    with pytest.raises(AssertionError, match=r"out has shape \(1, 4\), the reference \(4,\)"):
        assert_close(torch.zeros(1, 4), torch.zeros(4, dtype=torch.float64))


def test_an_op_may_bring_its_own_tolerances() -> None:
    assert_close(torch.tensor([1.5]), torch.tensor([1.0]), tolerances={"float32": (0.5, 0.0)})


def test_what_is_beyond_the_range_of_the_result_is_infinite_there() -> None:
    compare([inf, -inf], [7e4, -1e9], torch.float16)
    with pytest.raises(AssertionError, match="2 of 2 elements differ"):
        compare([-inf, 65504.0], [7e4, 1e9], torch.float16)


def test_at_the_end_of_the_range_the_last_number_and_infinity_are_near() -> None:
    compare([inf, 65504.0], [65500.0, 65530.0], torch.float16)
    with pytest.raises(AssertionError, match="1 of 1 elements differ"):
        compare([inf], [6e4], torch.float16)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_in_eight_bits_what_is_beyond_the_range_may_be_its_end(dtype: torch.dtype) -> None:
    most = torch.finfo(dtype).max
    got = torch.tensor([most, -most]).to(dtype)
    assert_close(got, torch.tensor([2 * most, -torch.inf], dtype=torch.float64))
    with pytest.raises(AssertionError, match="differ"):
        assert_close(got, torch.tensor([-2 * most, torch.inf], dtype=torch.float64))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int32])
def test_what_was_never_written_is_told_from_what_is_wrong(dtype: torch.dtype) -> None:
    with poisoned_allocations():
        actual = torch.empty(17, 2, dtype=dtype)
    actual[:14], actual[3, 1] = 1, 5
    expected = torch.ones(17, 2, dtype=torch.float64)
    with pytest.raises(AssertionError) as info:
        assert_close(actual, expected, "w", poisoned=True)
    assert str(info.value).startswith(
        "w: 7 of 34 elements differ; 6 elements were never written (or only added to), the first at "
        "(14, 0); worst at (3, 1): 5, reference 1 "
    )
