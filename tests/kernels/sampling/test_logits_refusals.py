"""Pipelines of logits that are refused: orders, steps, rules and numbers that mean nothing."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.ops import (
    CompileError,
    FusionRule,
    LegalizationError,
    LogitsPipe,
    LogitsProcessor,
    MinP,
    Op,
    ProbsTopKOp,
    Sample,
    Softmax,
    TaggedTensor,
    Temperature,
    TemperatureOp,
    TensorType,
    TopK,
    TopP,
    compile_pipeline,
    legalize_processors,
)

LOGITS, PROBS = TensorType.LOGITS, TensorType.PROBS


@pytest.fixture
def probs(device: str) -> torch.Tensor:
    return torch.softmax(torch.randn(4, 130, device=device), -1)


@pytest.mark.parametrize(
    ("processors", "given", "text"),
    [
        ([], None, "Pipeline cannot be empty"),
        ([TopP(), Softmax()], None, r"creation failed: .*1 \(Softmax\): .*LOGITS, got PROBS"),
        ([Softmax(), Temperature()], None, "Temperature can only be applied to LOGITS, got PROBS"),
        ([TopP()], LOGITS, "TopP can only be applied to PROBS, got LOGITS"),
        ([MinP()], LOGITS, "MinP can only be applied to PROBS"),
        ([Sample(), TopK()], LOGITS, "TopK can only be applied to LOGITS or PROBS, got INDICES"),
        ([Sample(), Sample()], PROBS, "Sample can only be applied to .* got INDICES"),
        ([Softmax(), Softmax()], None, r"processor 1 \(Softmax\)"),
        ([TopK()], None, "Cannot infer input type: TopK can accept both LOGITS and PROBS"),
        ([Sample()], None, "specify input_type explicitly"),
    ],
)
def test_orders_that_mean_nothing(
    processors: list[LogitsProcessor], given: TensorType | None, text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        LogitsPipe(processors, input_type=given)


def test_processors_that_are_wrong_in_themselves() -> None:
    class Empty(LogitsProcessor):
        def legalize(self, input_type: TensorType) -> list[Op]:
            return []

    class Strange(LogitsProcessor):
        def legalize(self, input_type: TensorType) -> list[Op]:
            raise ValueError("never")

    class Untyped(Op):
        def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
            return tensor

    with pytest.raises(LegalizationError, match="empty processor list"):
        legalize_processors([])
    with pytest.raises(LegalizationError, match="Empty produced no ops"):
        legalize_processors([Empty()])
    with pytest.raises(ValueError, match="Strange cannot accept standard pipeline inputs"):
        LogitsPipe([Strange()])
    with pytest.raises(ValueError, match="Untyped has no IN and no OUT"):
        Untyped()


def test_steps_that_do_not_compile() -> None:
    soft = legalize_processors([Softmax()])
    with pytest.raises(CompileError, match="Cannot compile empty operator list"):
        compile_pipeline([])
    with pytest.raises(CompileError, match=r"Type mismatch at operator 1 \(SoftmaxOp\)"):
        compile_pipeline([*soft, *soft])
    drawn = legalize_processors([Sample()], PROBS)
    with pytest.raises(CompileError, match="Type mismatch at operator 1"):
        compile_pipeline([*drawn, *drawn])

    def refuse(ops: list[Op]) -> None:
        raise CompileError(f"not {len(ops)}")

    with pytest.raises(ValueError, match="Compilation failed: not 1"):
        LogitsPipe([Softmax()], custom_validity_checks=[refuse])


def test_rules_that_would_break_a_pipe() -> None:
    ops = legalize_processors([Temperature(), Softmax()])
    endless = FusionRule((TemperatureOp,), lambda w: True, lambda w: TemperatureOp(), 200)
    with pytest.raises(CompileError, match="Fusion does not end: TemperatureOp"):
        compile_pipeline(ops, [endless])
    nothing = FusionRule((), lambda w: True, lambda w: TemperatureOp())
    with pytest.raises(CompileError, match="empty pattern"):
        compile_pipeline(ops, [nothing])
    other = FusionRule((TemperatureOp,), lambda w: True, lambda w: ProbsTopKOp(), 200)
    with pytest.raises(CompileError, match="takes or gives something else"):
        compile_pipeline(ops, [other])


@pytest.mark.parametrize(
    ("processor", "given", "name", "values"),
    [
        (Temperature(), LOGITS, "temperature", (0, -1.0, float("nan"), float("inf"), True, "1")),
        (TopK(), LOGITS, "top_k", (0, -3, 1.5, True)),
        (TopK(), PROBS, "top_k", (0, -3, 1.5, True)),
        (TopP(), PROBS, "top_p", (0, -0.1, 1.1, float("nan"), None)),
        (MinP(), PROBS, "min_p", (0, -0.1, 1.1, float("nan"), "1")),
    ],
    ids=str,
)
@pytest.mark.parametrize("compiled", [True, False])
def test_numbers_that_are_none_are_refused(
    processor: LogitsProcessor,
    given: TensorType,
    name: str,
    values: tuple[Any, ...],
    compiled: bool,
    probs: torch.Tensor,
) -> None:
    last = Softmax() if isinstance(processor, Temperature) else Sample()
    pipe = LogitsPipe([processor, last], compile=compiled, input_type=given)
    with pytest.raises(ValueError, match=rf"operator 0 .*'{name}' not provided for"):
        pipe(probs)
    for value in values:
        with pytest.raises(ValueError, match=rf"operator 0 \(.*\): {name} is .*tensor array"):
            pipe(probs, **{name: value})


def test_a_tensor_of_another_meaning_is_refused(probs: torch.Tensor) -> None:
    pipe = LogitsPipe([TopK(), Sample()], input_type=PROBS)
    with pytest.raises(ValueError, match=r"cannot accept input type LOGITS\. Expected: PROBS"):
        pipe(TaggedTensor.logits(probs), top_k=1)
    with pytest.raises(ValueError, match=r"Error executing operator 0 .*'probs'"):
        pipe(probs[0], top_k=1)
