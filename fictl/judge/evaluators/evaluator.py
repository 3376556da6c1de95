"""Evaluator: the interface between the judge and an evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch

    from fictl.judge.config import EvalConfig
    from fictl.judge.evaluators.verdict import Verdict


class Evaluator(Protocol):
    """Checks `rounds` of fresh inputs, each alone and then all together.

    `needs_expected` is False if the reference's outputs are never used. All tensors of one check
    are on the same device.
    """

    @property
    def name(self) -> str: ...

    @property
    def needs_expected(self) -> bool: ...

    def rounds(self, config: EvalConfig) -> int: ...

    def check(
        self,
        outputs: Mapping[str, torch.Tensor],
        expected: Mapping[str, torch.Tensor],
        inputs: Mapping[str, Any],
    ) -> Verdict: ...

    def finish(self, verdicts: Sequence[Verdict]) -> Verdict: ...
