"""Ops with planted mistakes, each found by a generated test that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

from fictl.op import op
from fictl.testing.generated.guarded_trial import GuardedTrial
from fictl.testing.generated.layout import MemoryLayout
from fictl.testing.generated.selection import variants
from fictl.testing.generated.variant import CaseVariant
from fictl.trace import Case, Tensor, TraceTemplate, Var

CASE = Case("double", {"rows": 3, "n": 8}, "float32")
EMPTY = Case("double", {"rows": 0, "n": 8}, "float32")
Optional = torch.Tensor | None


def traced(**changes: Any) -> TraceTemplate:
    facts: dict[str, Any] = {
        "axes": {"rows": Var(""), "n": Var("")},
        "inputs": {"input": Tensor(("rows", "n"))},
        "outputs": {"out": Tensor(("rows", "n"))},
        "reference": lambda input: 2 * input,
    }
    return TraceTemplate(**{**facts, **changes})


def declared(function: Callable[..., Any], template: TraceTemplate, mutates: str = "out") -> Any:
    return op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates=mutates, trace=template)(
        function
    )


def check(
    function: Callable[..., Any],
    layout: MemoryLayout = MemoryLayout.CONTIGUOUS,
    values: str = "normal",
    case: Case = CASE,
    template: TraceTemplate | None = None,
    mutates: str = "out",
) -> None:
    template = template or traced()
    variant = CaseVariant(case, layout, 7, values, declared=case is CASE)
    GuardedTrial(declared(function, template, mutates), template, variant, "cpu").check()


def double(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
    out = torch.empty_like(input) if out is None else out
    return out.copy_(2 * input)


def refuse(name: str, x: Optional) -> None:
    if x is not None and not x.is_contiguous():
        raise ValueError(f"double: argument '{name}' is not contiguous; pass {name}.contiguous()")


def test_a_right_op_passes_in_every_way() -> None:
    template = traced(extremes=("zeros", "small", "large", "nonfinite"))
    api = declared(double, template)
    every = list(variants(template, [CASE], seed=7))
    assert len(every) == 11
    for variant in every:
        GuardedTrial(api, template, variant, "cpu").check()


def test_where_several_results_are_right_the_judge_decides() -> None:
    def judge(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        assert inputs["input"].dtype is torch.float32
        assert torch.equal(results["out"].abs(), 2 * inputs["input"].abs()), "out: neither"

    def negated(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        return double(input, out).neg_()

    def tripled(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        return double(input, out).mul_(1.5)

    judged = traced(judge=judge, reference=None)
    for right in (double, negated):
        check(right, template=judged)
    with pytest.raises(AssertionError, match="out: neither"):
        check(tripled, template=judged)


def test_a_judge_sees_what_an_op_in_place_was_given() -> None:
    def judge(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        assert torch.equal(results["input"], 2 * inputs["input"]), "input: wrong"

    def in_place(input: torch.Tensor) -> None:
        input.mul_(2)

    outputs = {"input": Tensor(("rows", "n"))}
    check(in_place, template=traced(judge=judge, outputs=outputs), mutates="input")


def test_an_output_that_must_be_given_is_given() -> None:
    def into(out: torch.Tensor, input: torch.Tensor) -> None:
        assert out is not None
        double(input, out)

    def not_at_all(out: torch.Tensor, input: torch.Tensor) -> None:
        """Writes nothing."""

    check(into)
    with pytest.raises(AssertionError, match="out: 24 of 24 elements differ"):
        check(not_at_all)


def test_a_write_past_the_end_of_an_output() -> None:
    def beyond(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        if out is not None:
            out.as_strided((1,), (1,), out.storage_offset() + 24).fill_(7)
        return double(input, out)

    with pytest.raises(AssertionError, match=r"out was written outside: .* past its end, .*: 7 "):
        check(beyond)


def test_an_output_whose_strides_are_ignored() -> None:
    def dense(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        if out is not None:
            out.as_strided(out.shape, (8, 1)).copy_(2 * input)
            return out
        return double(input)

    check(dense)
    with pytest.raises(AssertionError, match=r"out was written outside: .* between its elements"):
        check(dense, MemoryLayout.STRIDED)


def test_an_input_whose_strides_are_ignored() -> None:
    def dense(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        return double(input.as_strided(input.shape, (8, 1)), out)

    check(dense)
    for layout in (MemoryLayout.STRIDED, MemoryLayout.SKEWED, MemoryLayout.TRANSPOSED):
        with pytest.raises(AssertionError, match=r"out: \d+ of 24 elements differ"):
            check(dense, layout)


def test_a_read_past_the_end_of_an_input() -> None:
    def beyond(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        after = input.as_strided((1,), (1,), input.storage_offset() + 24)
        return double(input, out).add_(0 * after)

    with pytest.raises(
        AssertionError, match=r"out: 24 of 24 elements differ; worst .*: nan, reference"
    ):
        check(beyond)


_UNWRITTEN = (
    r"out: 8 of 24 elements differ; 8 elements were never written \(or only added to\), the first at "
    r"\(2, 0\); worst at \(2, 0\): nan, reference"
)


@pytest.mark.parametrize("gives", [True, False], ids=["given", "allocated"])
def test_elements_that_are_not_written(gives: bool) -> None:
    def partly(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        if (out is not None) is not gives:
            return double(input, out)
        out = torch.empty_like(input) if out is None else out
        out[:-1] = 2 * input[:-1]
        return out

    with pytest.raises(AssertionError, match=_UNWRITTEN):
        check(partly)


def test_a_workspace_that_was_thought_to_be_zero() -> None:
    def added(input: torch.Tensor) -> torch.Tensor:
        return input.new_empty(input.shape).add_(2 * input)

    with pytest.raises(AssertionError, match=r"out: 24 of 24 elements differ; .*: nan"):
        check(added)


def test_an_input_that_is_written() -> None:
    def spoiling(input: torch.Tensor) -> torch.Tensor:
        return double(input.mul_(2)).div_(2)

    with pytest.raises(AssertionError, match=r"input was written, which mutates= does not name"):
        check(spoiling)


def test_an_output_that_is_given_and_not_taken() -> None:
    def allocating(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        return double(input)

    with pytest.raises(AssertionError, match=r"out: 24 of 24 elements differ; .*: nan"):
        check(allocating)


def test_an_output_of_another_dtype_than_the_trace_says() -> None:
    with pytest.raises(AssertionError, match="out has dtype float64, the trace says float32"):
        check(lambda input: 2 * input.double())


def test_a_nan_that_gets_lost_where_the_trace_says_that_none_does() -> None:
    def clean(input: torch.Tensor) -> torch.Tensor:
        return double(input).nan_to_num()

    check(clean)
    with pytest.raises(
        AssertionError, match=r"out: 2 of 24 elements differ; .* reference (nan|inf)"
    ):
        check(clean, values="nonfinite")


def test_a_layout_that_is_refused_by_name_is_given_up_for_that_argument_alone() -> None:
    seen: list[tuple[bool, bool]] = []

    def choosy(input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        refuse("input", input)
        if out is not None:
            seen.append((input.is_contiguous(), out.is_contiguous()))
        return double(input, out)

    check(choosy, MemoryLayout.STRIDED)
    assert seen == [(True, False)]


def test_a_layout_that_is_refused_without_a_name() -> None:
    def mute(input: torch.Tensor) -> torch.Tensor:
        if not input.is_contiguous():
            raise ValueError("bad strides")
        return double(input)

    with pytest.raises(AssertionError, match="refuses, and names no argument: bad strides"):
        check(mute, MemoryLayout.SKEWED)


def test_a_layout_that_ends_in_another_error() -> None:
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        check(lambda input: double(input).view(-1).view(input.shape), MemoryLayout.TRANSPOSED)


def test_what_bench_has_is_not_to_be_refused() -> None:
    def never(input: torch.Tensor) -> torch.Tensor:
        raise ValueError("argument 'input' is not to my taste")

    for layout in (MemoryLayout.CONTIGUOUS, MemoryLayout.OFFSET):
        with pytest.raises(ValueError, match="not to my taste"):
            check(never, layout)


def test_no_rows_may_be_refused_in_words() -> None:
    def some(input: torch.Tensor) -> torch.Tensor:
        if not len(input):
            raise ValueError("double: argument 'input' has no rows")
        return double(input)

    check(some, case=EMPTY)


def test_no_rows_may_not_end_in_another_error() -> None:
    def first(input: torch.Tensor) -> torch.Tensor:
        return double(input).add_(0 * input[0])

    with pytest.raises(IndexError):
        check(first, case=EMPTY)


def test_sizes_that_the_reference_or_init_fails_at_are_to_be_forbidden() -> None:
    said = r"the {} of the trace fails at .*'rows': 0, 'n': 8.*IndexError.*constraints="
    reference = traced(reference=lambda input: 2 * input + 0 * input[0])
    with pytest.raises(AssertionError, match=said.format("reference")):
        check(double, case=EMPTY, template=reference)

    def init(sizes: Any, *_: Any) -> dict[str, torch.Tensor]:
        return {"input": torch.ones(sizes["rows"], 8)[0]}

    with pytest.raises(AssertionError, match=said.format("init")):
        check(double, case=EMPTY, template=traced(init=init))


def test_what_returns_nothing_writes_its_arguments() -> None:
    def in_place(input: torch.Tensor) -> None:
        input.mul_(2)

    template = traced(outputs={"input": Tensor(("rows", "n"))})
    check(in_place, MemoryLayout.STRIDED, template=template, mutates="input")


class Planned:
    """Doubles after a plan."""

    def plan(self, input: torch.Tensor) -> None:
        self._rows = len(input)

    @op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out", trace=traced())
    def run(self, input: torch.Tensor, out: Optional = None) -> torch.Tensor:
        return double(input[: self._rows], out)


class Forgetful(Planned):
    """Whose plan spoils what run gets."""

    def plan(self, input: torch.Tensor) -> None:
        super().plan(input)
        input[0] = 0


@pytest.mark.parametrize("layout", MemoryLayout)
def test_a_class_is_planned_and_run(layout: MemoryLayout) -> None:
    variant = CaseVariant(CASE, layout, 7)
    GuardedTrial(Planned, traced(), variant, "cpu").check()
    with pytest.raises(AssertionError, match="input was written"):
        GuardedTrial(Forgetful, traced(), variant, "cpu").check()
