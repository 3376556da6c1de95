"""Parts of a pipeline as users name them; what they become follows from what they are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from .operators import (
    LogitsSampleOp,
    LogitsTopKOp,
    MinPOp,
    ProbsSampleOp,
    ProbsTopKOp,
    SoftmaxOp,
    TemperatureOp,
    TopPOp,
)
from .tensors import TensorType
from .typed_op import Op, ParameterizedOp


class LogitsProcessor(ABC):
    """A transformation of logits or probabilities, which becomes one step or several.

    params: what its steps are constructed with; the pipeline's call has precedence.
    """

    def __init__(self, **params: Any) -> None:
        self.params = params

    @abstractmethod
    def legalize(self, input_type: TensorType) -> list[Op]:
        """Return the steps for tensors of this type, or raise a ValueError."""
        raise NotImplementedError

    def __repr__(self) -> str:
        params = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{type(self).__name__}({params})"


class _Listed(LogitsProcessor):
    """A processor that is one step, by what it is given."""

    _STEPS: ClassVar[Mapping[TensorType, type[ParameterizedOp]]]

    def legalize(self, input_type: TensorType) -> list[Op]:
        step = self._STEPS.get(input_type)
        if step is None:
            taken = " or ".join(map(str, self._STEPS))
            raise ValueError(
                f"{type(self).__name__} can only be applied to {taken}, got {input_type}"
            )
        return [step(**self.params)]


class Temperature(_Listed):
    """Division of logits by `temperature`, an argument of the pipeline's call."""

    _STEPS: ClassVar = {TensorType.LOGITS: TemperatureOp}


class Softmax(_Listed):
    """Probabilities of logits; once in a pipeline.

    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """

    _STEPS: ClassVar = {TensorType.LOGITS: SoftmaxOp}

    def __init__(self, enable_pdl: bool | None = None, **params: Any) -> None:
        super().__init__(enable_pdl=enable_pdl, **params)


class TopK(_Listed):
    """The `top_k` likeliest tokens: the logits of others become -inf, their probabilities 0.

    joint_topk_topp: with TopP after it, both look at the same probabilities. Otherwise TopP's share
        is one of what is left.
    """

    _STEPS: ClassVar = {TensorType.LOGITS: LogitsTopKOp, TensorType.PROBS: ProbsTopKOp}

    def __init__(self, joint_topk_topp: bool = False, **params: Any) -> None:
        super().__init__(joint_topk_topp=joint_topk_topp, **params)


class TopP(_Listed):
    """The likeliest tokens whose probabilities add up to `top_p`."""

    _STEPS: ClassVar = {TensorType.PROBS: TopPOp}


class MinP(_Listed):
    """Tokens at least `min_p` times as likely as the likeliest."""

    _STEPS: ClassVar = {TensorType.PROBS: MinPOp}


class Sample(_Listed):
    """A draw of tokens, after which nothing follows.

    deterministic: ignored: the result always is.
    """

    _STEPS: ClassVar = {TensorType.LOGITS: LogitsSampleOp, TensorType.PROBS: ProbsSampleOp}

    def __init__(self, deterministic: bool = True, **params: Any) -> None:
        super().__init__(deterministic=deterministic, **params)
