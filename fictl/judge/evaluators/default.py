"""DefaultEvaluator: compares outputs with the reference's, element by element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fictl.judge.evaluators.errors import Errors, measure, values
from fictl.judge.evaluators.verdict import Verdict, worst
from fictl.trace import EvaluationStatus

if TYPE_CHECKING:
    import torch

    from fictl.judge.config import EvalConfig
    from fictl.trace import Definition


@dataclass(frozen=True)
class DefaultEvaluator:
    """`ratio` is the share of elements that must match, unless a configuration sets it."""

    definition: Definition
    config: EvalConfig
    name: str = "default"
    ratio: float = 1.0
    needs_expected: bool = True

    def rounds(self, config: EvalConfig) -> int:
        return config.correctness_rounds

    def check(
        self,
        outputs: Mapping[str, torch.Tensor],
        expected: Mapping[str, torch.Tensor],
        inputs: Mapping[str, Any],
    ) -> Verdict:
        """Check shapes and dtypes of all outputs before any values."""
        for name, wanted in expected.items():
            problem = self._misfit(name, outputs, wanted)
            if problem is not None:
                return problem
        return worst([self._values(n, outputs[n], want) for n, want in expected.items()])

    def finish(self, verdicts: Sequence[Verdict]) -> Verdict:
        return worst(verdicts)

    @property
    def required(self) -> float:
        ratio = self.config.required_matched_ratio
        return self.ratio if ratio is None else ratio

    def _misfit(
        self, name: str, outputs: Mapping[str, torch.Tensor], wanted: torch.Tensor
    ) -> Verdict | None:
        from fictl.trace.documents.tensor_spec import torch_dtype

        if name not in outputs:
            return Verdict(EvaluationStatus.INCORRECT_SHAPE, None, f"there is no output {name}")
        got, dtype = outputs[name], torch_dtype(self.definition.outputs[name].dtype)
        if got.shape != wanted.shape:
            note = f"{name} has shape {[*got.shape]}, the reference {[*wanted.shape]}"
            return Verdict(EvaluationStatus.INCORRECT_SHAPE, None, note)
        if got.dtype != dtype:
            note = f"{name} is {got.dtype}, its definition says {dtype}"
            return Verdict(EvaluationStatus.INCORRECT_DTYPE, None, note)
        return None

    def _values(self, name: str, got: torch.Tensor, wanted: torch.Tensor) -> Verdict:
        from fictl.trace import Correctness

        errors = measure(got, wanted, self._with_ratio())
        note = self._wrong(name, errors) or _all_zero(name, got, wanted)
        extra: dict[str, Any] = {"matched_ratio": errors.matched_ratio}
        if errors.atol != self.config.atol:
            extra["atol"] = errors.atol
        infinite = float("inf") if errors.strange else 0.0
        correctness = Correctness(
            max_relative_error=max(errors.largest_relative, infinite),
            max_absolute_error=max(errors.largest, infinite),
            extra=extra,
        )
        status = EvaluationStatus.INCORRECT_NUMERICAL if note else EvaluationStatus.PASSED
        return Verdict(status, correctness, note)

    def _with_ratio(self) -> EvalConfig:
        return self.config.changed({"required_matched_ratio": self.required})

    def _wrong(self, name: str, errors: Errors) -> str:
        if errors.matched_ratio >= self.required and not errors.beyond_cap and not errors.strange:
            return ""
        if errors.beyond_cap and errors.matched_ratio >= self.required:
            return (
                f"{name}: {errors.beyond_cap} of {errors.elements} elements are off by more than "
                f"{self.config.max_error_cap:g}"
            )
        needed = "" if self.required == 1 else f", {self.required:.0%} must match"
        return (
            f"{name}: {errors.wrong} of {errors.elements} elements differ{needed}; worst at "
            f"{errors.worst}: {errors.worst_got:.9g}, reference {errors.worst_wanted:.9g} "
            f"(rtol {self.config.rtol:g}, atol {errors.atol:g})"
        )


def _all_zero(name: str, got: torch.Tensor, wanted: torch.Tensor) -> str:
    """Note on an output of zeros: a wide tolerance alone would accept it."""
    import torch

    packed = torch.float4_e2m1fn_x2 in (wanted.dtype, got.dtype)
    rounded = wanted if packed else wanted.to(got.dtype)
    if bool(values(got).any()) or not bool(values(rounded).any()):
        return ""
    return f"{name} is all zeros, unlike the reference"
