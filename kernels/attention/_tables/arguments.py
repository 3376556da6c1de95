"""Arguments that calls with page tables share."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from .._arguments.dtypes import Dtype, dtype_of

_WHY = {
    "skip_softmax_threshold_scale_factor": "the softmax here is exact",
    "use_fp16_softmax": "the softmax here is exact, and in fp32",
    "uses_spcompress": "the softmax here is exact, and in fp32",
    "sage_attn_sfs": "scales are of whole tensors: bmm1_scale and bmm2_scale",
    "pos_encoding_mode": "ALiBi is BatchPrefillWithPagedKVCacheWrapper's",
    "save_softmax_stats": "trtllm_batch_context_with_kv_cache returns the sums as an lse",
    "chunked_attention_size": "BatchPrefillWithPagedKVCacheWrapper takes such masks as custom_mask",
}
_PACKED = "queries lie behind one another, and keys in pages"


def refuse_others(op: str, **arguments: object) -> None:
    """Refuse arguments that FlashInfer has and fictl does not."""
    for name, value in arguments.items():
        if value is not None and value is not False:
            raise NotImplementedError(
                f"{op}: argument '{name}' is given; {_WHY.get(name, _PACKED)}"
            )


def one_tensor(
    op: str, name: str, value: torch.Tensor | list[torch.Tensor] | None
) -> torch.Tensor | None:
    """Read a tensor that FlashInfer declares as a list."""
    if value is None or isinstance(value, torch.Tensor):
        return value
    if isinstance(value, list | tuple) and len(value) == 1:
        return value[0]
    raise ValueError(
        f"{op}: argument '{name}' is a {type(value).__name__}; pass a tensor of a number a head"
    )


def tokens_of(op: str, name: str, x: torch.Tensor) -> torch.Tensor:
    """View (requests, 1, heads, dim), with queries of a request or without, as (tokens, heads, dim)."""
    if x.ndim == 3:
        return x
    if x.ndim in (4, 5) and x.shape[1] == 1:
        return viewed(op, name, x, (math.prod(x.shape[:-2]), *x.shape[-2:]))
    raise ValueError(
        f"{op}: argument '{name}' has shape {tuple(x.shape)}; it is (requests, 1, heads, dim), "
        "(requests, 1, queries, heads, dim) or (tokens, heads, dim)"
    )


def viewed(op: str, name: str, x: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """View a tensor as (tokens, heads, dim); one of three dimensions is returned as it is."""
    if x.ndim == 3:
        return x
    try:
        return x.view(*shape)
    except RuntimeError:
        raise ValueError(
            f"{op}: argument '{name}' has shape {tuple(x.shape)} and strides {x.stride()}, of which "
            f"there is no view of {tuple(shape)}; pass that"
        ) from None


def result_dtype(
    op: str, name: str, value: Dtype | None, out: torch.Tensor | None, otherwise: torch.dtype
) -> torch.dtype:
    """Read the dtype of results, which is that of `out` where both are given."""
    if value is None:
        return otherwise
    dtype = dtype_of(op, name, value)
    if out is None or out.dtype is dtype:
        return dtype
    raise ValueError(f"{op}: argument 'out' has dtype {out.dtype}, and '{name}' is {value}")
