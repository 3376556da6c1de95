"""SamplingEvaluator: compares samples with the distribution they should be drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fictl.judge.evaluators.distribution import (
    Distribution,
    distributions,
    row_count,
    source,
    vocabulary,
)
from fictl.judge.evaluators.tally import Tally, by_probability
from fictl.judge.evaluators.verdict import Verdict, worst
from fictl.trace import EvaluationStatus

if TYPE_CHECKING:
    import torch

    from fictl.judge.config import EvalConfig
    from fictl.trace import Definition

_INF = float("inf")


def is_sampling(definition: Definition) -> bool:
    """Tell whether a definition draws one sample from each row of probabilities or logits."""
    words = definition.op_type.split("_")
    first = next(iter(definition.outputs.values()), None)
    drawn = first is not None and first.dtype in ("int32", "int64")
    return "sampling" in words and bool(source(definition.inputs)) and drawn


@dataclass
class SamplingEvaluator:
    """Refuses tokens that may not be drawn, and compares frequencies over all trials.

    Tokens are counted in bins of equal probability, as many as the number of samples can tell
    apart, so that a vocabulary of 128 thousand tokens does not need half a million samples.
    """

    definition: Definition
    config: EvalConfig
    name: str = "sampling"
    needs_expected: bool = False
    tally: Tally = field(default_factory=Tally)

    def rounds(self, config: EvalConfig) -> int:
        return config.sampling_validation_trials

    def check(
        self,
        outputs: Mapping[str, torch.Tensor],
        expected: Mapping[str, torch.Tensor],
        inputs: Mapping[str, Any],
    ) -> Verdict:
        name = next(iter(self.definition.outputs))
        problem = self._misfit(name, outputs, row_count(inputs))
        if problem is not None:
            return problem
        drawn, size = outputs[name].reshape(-1).long(), vocabulary(inputs)
        outside = (drawn < 0) | (drawn >= size)
        if bool(outside.any()):
            return wrong(f"{name} has {int(drawn[outside][0])}: the vocabulary has {size} tokens")
        for rows, distribution in distributions(inputs):
            forbidden = self._count(drawn[rows], distribution, by_probability(distribution.share))
            if forbidden is not None:
                return wrong(f"{name}: token {forbidden} of a row that may not draw it")
        return self._passed()

    def finish(self, verdicts: Sequence[Verdict]) -> Verdict:
        failed = worst(verdicts)
        if not failed.passed:
            return failed
        limit = self.config.sampling_tvd_threshold
        comparison = self.tally.compare(limit)
        if comparison is None:
            extra: dict[str, Any] = {"tvd_skipped": True, "samples": self.tally.samples}
            return Verdict(EvaluationStatus.PASSED, _correctness(0.0, 0.0, extra))
        extra = {
            "tvd": comparison.distance,
            "samples": self.tally.samples,
            "shares": comparison.shares,
        }
        correctness = _correctness(comparison.largest_relative, comparison.largest, extra)
        if comparison.distance <= limit:
            return Verdict(EvaluationStatus.PASSED, correctness)
        note = (
            f"the tokens of {self.tally.samples} samples are not distributed as they should be: "
            f"total variation distance {comparison.distance:.3g}, at most {limit:g}"
        )
        return Verdict(EvaluationStatus.INCORRECT_NUMERICAL, correctness, note)

    def _passed(self) -> Verdict:
        return Verdict(EvaluationStatus.PASSED, _correctness(0.0, 0.0, {}))

    def _misfit(self, name: str, outputs: Mapping[str, torch.Tensor], rows: int) -> Verdict | None:
        from fictl.trace.documents.tensor_spec import torch_dtype

        for output, spec in self.definition.outputs.items():
            if output not in outputs:
                note = f"there is no output {output}"
                return Verdict(EvaluationStatus.INCORRECT_SHAPE, None, note)
            got, dtype = outputs[output], torch_dtype(spec.dtype)
            if len(spec.shape or ()) != got.ndim or (output == name and got.numel() != rows):
                note = f"{output} has shape {[*got.shape]}, for {rows} samples"
                return Verdict(EvaluationStatus.INCORRECT_SHAPE, None, note)
            if got.dtype != dtype:
                note = f"{output} is {got.dtype}, its definition says {dtype}"
                return Verdict(EvaluationStatus.INCORRECT_DTYPE, None, note)
        return None

    def _count(self, drawn: torch.Tensor, of: Distribution, bins: torch.Tensor) -> int | None:
        """Count the drawn tokens; return a forbidden one, or None."""
        rank = (of.token == drawn[:, None]).long().argmax(-1)
        allowed = of.allowed.gather(-1, rank[:, None])[:, 0]
        if not bool(allowed.all()):
            return int(drawn[~allowed][0])
        self.tally.add(rank, of.share, bins)
        return None


def wrong(note: str) -> Verdict:
    correctness = _correctness(_INF, _INF, None)
    return Verdict(EvaluationStatus.INCORRECT_NUMERICAL, correctness, note)


def _correctness(relative: float, absolute: float, extra: dict[str, Any] | None) -> Any:
    from fictl.trace import Correctness

    return Correctness(
        max_relative_error=relative, max_absolute_error=absolute, extra=extra or None
    )
