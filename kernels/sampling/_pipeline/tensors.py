"""Tensors of a pipeline with what they mean."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import torch


class TensorType(Enum):
    """Meaning of a pipeline's tensor."""

    LOGITS = auto()  # scores, -inf where a token is masked
    PROBS = auto()  # not negative; they need not add up to 1
    INDICES = auto()  # tokens, after which nothing follows

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"TensorType.{self.name}"


@dataclass(slots=True, frozen=True)
class TaggedTensor:
    """A tensor and its meaning; functions of torch take it as the tensor."""

    data: torch.Tensor
    type: TensorType

    @staticmethod
    def logits(t: torch.Tensor) -> TaggedTensor:
        return TaggedTensor(t, TensorType.LOGITS)

    @staticmethod
    def probs(t: torch.Tensor) -> TaggedTensor:
        return TaggedTensor(t, TensorType.PROBS)

    @staticmethod
    def indices(t: torch.Tensor) -> TaggedTensor:
        return TaggedTensor(t, TensorType.INDICES)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[builtins.type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        return func(*_plain(tuple(args)), **_plain(kwargs or {}))

    @property
    def shape(self) -> torch.Size:
        return self.data.shape

    @property
    def device(self) -> torch.device:
        return self.data.device

    @property
    def dtype(self) -> torch.dtype:
        return self.data.dtype

    def size(self, dim: int | None = None) -> torch.Size | int:
        return self.data.shape if dim is None else self.data.shape[dim]

    def __repr__(self) -> str:
        return (
            f"TaggedTensor(type={self.type}, shape={self.shape}, dtype={self.dtype}, "
            f"device={self.device})"
        )


def _plain(value: Any) -> Any:
    """Return the same without tags, also inside of lists, tuples and dicts."""
    if isinstance(value, TaggedTensor):
        return value.data
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if type(value) is dict:
        return {key: _plain(of_key) for key, of_key in value.items()}
    return value
