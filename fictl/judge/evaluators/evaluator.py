"""What a judge asks of an evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch

    from fictl.judge.config import EvalConfig
    from fictl.judge.evaluators.verdict import Verdict


class Evaluator(Protocol):
    """`rounds` of fresh inputs are run; each is checked alone, then all together.

    `needs_expected` is False for one that never looks at the reference's outputs: it may be handed
    none. All tensors of one check are on one device.
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
