from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from fictl.case.outputs import OutputSpec
from fictl.op import op
from fictl.testing.generated.guarded_call import GuardedCall
from fictl.testing.generated.layout import MemoryLayout
from fictl.trace import Tensor, TraceTemplate

TEMPLATE = TraceTemplate({}, {}, {"out": Tensor(())}, lambda: None)
GIVEN = {"out": OutputSpec((2, 3), torch.float32)}
INPUTS = {"input": torch.ones(2, 3), "factor": 3.0}


def call(
    function: Callable[..., Any],
    outputs: dict[str, OutputSpec] | None = None,
    mutates: str = "out",
) -> GuardedCall:
    api = op(archs=">=8.0", dtypes="f32", mutates=mutates, trace=TEMPLATE)(function)
    return GuardedCall(api, INPUTS, outputs or {}, "cpu")


def run(guarded: GuardedCall, *laid_out: str) -> dict[str, Any]:
    return guarded.run(MemoryLayout.STRIDED, laid_out)


def scale(input: torch.Tensor, factor: float, out: Any = None) -> torch.Tensor:
    out = torch.empty_like(input) if out is None else out
    return out.copy_(factor * input)


def test_its_tensors_are_the_inputs_and_the_outputs_that_are_given() -> None:
    assert call(scale).tensors == ["input"]
    assert call(scale, GIVEN).tensors == ["input", "out"]


@pytest.mark.parametrize("outputs", [{}, GIVEN], ids=["allocated", "given"])
def test_the_results_are_by_name(outputs: dict[str, OutputSpec]) -> None:
    assert run(call(scale, outputs))["out"].tolist() == [[3.0] * 3] * 2


def test_only_what_is_named_is_not_contiguous() -> None:
    seen = []

    def look(input: torch.Tensor, factor: float, out: torch.Tensor) -> torch.Tensor:
        seen.append((input.is_contiguous(), out.is_contiguous()))
        return scale(input, factor, out)

    for laid_out in ((), ("input",), ("input", "out")):
        run(call(look, GIVEN), *laid_out)
    assert seen == [(True, True), (False, True), (False, False)]


def test_the_inputs_of_the_next_call_are_as_before() -> None:
    def in_place(input: torch.Tensor, factor: float) -> torch.Tensor:
        return input.mul_(factor)

    guarded = call(in_place, mutates="input")
    assert torch.equal(run(guarded)["out"], run(guarded)["out"])
    assert bool((INPUTS["input"] == 1).all())


def test_what_is_given_counts_and_not_what_is_returned() -> None:
    found = run(call(lambda input, factor, out: scale(input, factor), GIVEN))
    assert bool(found["out"].isnan().all())


def test_what_returns_nothing_has_written_its_arguments() -> None:
    def silent(input: torch.Tensor, factor: float, out: torch.Tensor) -> None:
        scale(input, factor, out)

    assert run(call(silent, GIVEN))["out"].tolist() == [[3.0] * 3] * 2
    with pytest.raises(AssertionError, match="returned nothing, and has no argument out to write"):
        run(call(lambda input, factor: None))


def test_a_number_of_values_that_is_not_the_traces_is_wrong() -> None:
    with pytest.raises(AssertionError, match="returned 2 values, its trace has the outputs out"):
        run(call(lambda input, factor: (input, input)))


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def test_what_the_op_allocates_is_nan() -> None:
    found = run(call(lambda input, factor: torch.empty(2, 3)))
    assert bool(found["out"].isnan().all())


def test_torch_is_left_as_it_was() -> None:
    def fail(input: torch.Tensor, factor: float) -> torch.Tensor:
        raise OSError

    run(call(scale))
    with pytest.raises(OSError):
        run(call(fail))
    assert not torch.are_deterministic_algorithms_enabled()


def test_torch_is_left_deterministic_where_it_was(deterministic: None) -> None:
    run(call(scale))
    assert torch.are_deterministic_algorithms_enabled()
    assert not torch.is_deterministic_algorithms_warn_only_enabled()


def test_bare_tensors_leave_what_is_allocated_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    modes = []

    def look(input: torch.Tensor, factor: float) -> torch.Tensor:
        modes.append(torch.get_deterministic_debug_mode())
        return scale(input, factor)

    run(call(look))
    monkeypatch.setenv("FICTL_BARE_TENSORS", "1")
    assert run(call(look))["out"].tolist() == [[3.0] * 3] * 2
    assert modes == [1, 0]
