"""Steps of a pipeline one by one, by the functions of this family."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeAlias, cast

import torch

from ..from_logits.op import sampling_from_logits
from ..from_probs.op import sampling_from_probs
from ..renorm.op import top_k_mask_logits, top_k_renorm_probs, top_p_renorm_probs
from ..softmax.op import softmax
from .parameters import count_of, share_of, temperature_of
from .tensors import TaggedTensor, TensorType
from .typed_op import ParameterizedOp

# Parameters of a draw: the pipeline's call has them, or its constructor.
_OF_DRAWS = ("indices", "generator", "seed", "offset")
# Of the functions that draw; a pair if validity is asked for, which is not done here.
Drawn: TypeAlias = "torch.Tensor | tuple[torch.Tensor, torch.Tensor]"


class TemperatureOp(ParameterizedOp):
    """Division of logits by `temperature`: a number, or a tensor of one a row."""

    IN = TensorType.LOGITS
    OUT = TensorType.LOGITS

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        output_type = self._validate_input_type(tensor)
        temperature = temperature_of(self._get_param("temperature", kwargs))
        if isinstance(temperature, torch.Tensor) and temperature.dim() == 1:
            temperature = temperature.unsqueeze(-1)
        return TaggedTensor(tensor.data / temperature, output_type)


class SoftmaxOp(ParameterizedOp):
    """Softmax of each row, in fp32."""

    IN = TensorType.LOGITS
    OUT = TensorType.PROBS

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        output_type = self._validate_input_type(tensor)
        enable_pdl = self.default_params.get("enable_pdl")
        return TaggedTensor(softmax(tensor.data, None, enable_pdl), output_type)


class LogitsTopKOp(ParameterizedOp):
    """The `top_k` largest logits; the others become -inf."""

    IN = TensorType.LOGITS
    OUT = TensorType.LOGITS

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        output_type = self._validate_input_type(tensor)
        top_k = count_of("top_k", self._get_param("top_k", kwargs))
        return TaggedTensor(top_k_mask_logits(tensor.data, top_k), output_type)


class ProbsTopKOp(ParameterizedOp):
    """The `top_k` likeliest tokens, divided by their sum; the others become 0."""

    IN = TensorType.PROBS
    OUT = TensorType.PROBS

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        output_type = self._validate_input_type(tensor)
        top_k = count_of("top_k", self._get_param("top_k", kwargs))
        return TaggedTensor(top_k_renorm_probs(tensor.data, top_k), output_type)


class TopPOp(ParameterizedOp):
    """The likeliest tokens that add up to `top_p`, divided by their sum; the others become 0."""

    IN = TensorType.PROBS
    OUT = TensorType.PROBS

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        output_type = self._validate_input_type(tensor)
        top_p = share_of("top_p", self._get_param("top_p", kwargs))
        return TaggedTensor(top_p_renorm_probs(tensor.data, top_p), output_type)


class MinPOp(ParameterizedOp):
    """Tokens at least `min_p` times as likely as the likeliest, divided by their sum; others are 0.

    As in min_p_sampling_from_probs, NaN and negative probabilities count as 0, where a tensor has
    NaN the likeliest are kept, and a row without a positive probability stays zeros.
    """

    IN = TensorType.PROBS
    OUT = TensorType.PROBS

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        output_type = self._validate_input_type(tensor)
        min_p = share_of("min_p", self._get_param("min_p", kwargs))
        if isinstance(min_p, torch.Tensor):
            min_p = min_p.float().nan_to_num(1.0).clamp(max=1.0).reshape(-1, 1)
        probs = tensor.data.float().nan_to_num(0.0).clamp(min=0.0)
        kept = probs.masked_fill(probs < min_p * probs.amax(-1, keepdim=True), 0.0)
        total = kept.sum(-1, keepdim=True)
        renormed = kept / total.masked_fill(total == 0, 1.0)
        return TaggedTensor(renormed.to(tensor.dtype), output_type)


class DrawingOp(ParameterizedOp):
    """A step that draws: from each row, or from those that `indices` names.

    generator, or seed and offset, are the source of random numbers, as in sampling_from_probs.
    """

    OUT = TensorType.INDICES

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        output_type = self._validate_input_type(tensor)
        return TaggedTensor(cast("torch.Tensor", self._draw(tensor.data, kwargs)), output_type)

    @abstractmethod
    def _draw(self, rows: torch.Tensor, kwargs: dict[str, Any]) -> Drawn:
        """Return the tokens."""

    def _source(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return {name: self._get_param(name, kwargs, required=False) for name in _OF_DRAWS}


class ProbsSampleOp(DrawingOp):
    """A draw from probabilities."""

    IN = TensorType.PROBS

    def _draw(self, rows: torch.Tensor, kwargs: dict[str, Any]) -> Drawn:
        return sampling_from_probs(rows, **self._source(kwargs))


class LogitsSampleOp(DrawingOp):
    """A draw from the softmax of logits, which is not written."""

    IN = TensorType.LOGITS

    def _draw(self, rows: torch.Tensor, kwargs: dict[str, Any]) -> Drawn:
        return sampling_from_logits(rows, **self._source(kwargs))
