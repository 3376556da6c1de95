"""Steps that do the work of several in one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..from_probs.op import (
    min_p_sampling_from_probs,
    top_k_sampling_from_probs,
    top_k_top_p_sampling_from_probs,
    top_p_sampling_from_probs,
)
from ..softmax.op import softmax
from .operators import DrawingOp, Drawn
from .parameters import count_of, share_of, temperature_of
from .tensors import TaggedTensor, TensorType
from .typed_op import Op, ParameterizedOp


class FusedTemperatureSoftmaxOp(ParameterizedOp):
    """Softmax of logits / `temperature`."""

    IN = TensorType.LOGITS
    OUT = TensorType.PROBS

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        output_type = self._validate_input_type(tensor)
        temperature = temperature_of(self._get_param("temperature", kwargs))
        enable_pdl = self.default_params.get("enable_pdl")
        return TaggedTensor(softmax(tensor.data, temperature, enable_pdl), output_type)


class FusedProbsTopKSampleOp(DrawingOp):
    """A draw from the `top_k` likeliest tokens."""

    IN = TensorType.PROBS

    def _draw(self, rows: torch.Tensor, kwargs: dict[str, Any]) -> Drawn:
        top_k = count_of("top_k", self._get_param("top_k", kwargs))
        return top_k_sampling_from_probs(rows, top_k, **self._source(kwargs))


class FusedProbsTopPSampleOp(DrawingOp):
    """A draw from the likeliest tokens that add up to `top_p`."""

    IN = TensorType.PROBS

    def _draw(self, rows: torch.Tensor, kwargs: dict[str, Any]) -> Drawn:
        top_p = share_of("top_p", self._get_param("top_p", kwargs))
        return top_p_sampling_from_probs(rows, top_p, **self._source(kwargs))


class FusedProbsMinPSampleOp(DrawingOp):
    """A draw from the tokens that are at least `min_p` times as likely as the likeliest."""

    IN = TensorType.PROBS

    def _draw(self, rows: torch.Tensor, kwargs: dict[str, Any]) -> Drawn:
        min_p = share_of("min_p", self._get_param("min_p", kwargs))
        return min_p_sampling_from_probs(rows, min_p, **self._source(kwargs))


class FusedProbsTopKTopPSampleOp(DrawingOp):
    """A draw from tokens that `top_k` and `top_p` keep.

    joint_topk_topp: both look at the given probabilities; otherwise top_p is a share of what top_k
        keeps.
    """

    IN = TensorType.PROBS

    def _draw(self, rows: torch.Tensor, kwargs: dict[str, Any]) -> Drawn:
        top_k = count_of("top_k", self._get_param("top_k", kwargs))
        top_p = share_of("top_p", self._get_param("top_p", kwargs))
        joint = self.default_params.get("joint_topk_topp", True)
        return top_k_top_p_sampling_from_probs(
            rows,
            top_k,
            top_p,
            filter_apply_order="joint" if joint else "top_k_first",
            **self._source(kwargs),
        )


def parameters_of(window: Sequence[Op]) -> dict[str, Any]:
    """Collect the parameters that the steps of a window were constructed with."""
    return {
        name: value
        for step in window
        for name, value in getattr(step, "default_params", {}).items()
    }
