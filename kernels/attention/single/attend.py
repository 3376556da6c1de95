"""Attention of one request, planned and run at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from fictl.op import KernelModule

from .._arguments.lse import lse_for_kernel
from .._arguments.options import Options
from .._backends import AUTO
from .._plan.attention import Attention
from .._plan.lengths import Lengths
from .._plan.prefill import prefill_work
from .._plan.tensors import Place
from .._variant.variant import Variant
from .._wrapper.masks import check_bits


def shape_of_keys(op: str, q: torch.Tensor, k: torch.Tensor, hnd: bool) -> tuple[int, int]:
    """Read how many keys there are, and of how many heads."""
    if q.ndim != 3 or k.ndim != 3:
        raise ValueError(
            f"{op}: arguments 'q' and 'k' have shapes {tuple(q.shape)} and {tuple(k.shape)}; they "
            "are (tokens, heads, head_dim)"
        )
    return (k.shape[1], k.shape[0]) if hnd else (k.shape[0], k.shape[1])


def attend_one(
    op: str,
    kernel: KernelModule,
    chosen: Options,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    hnd: bool,
    why: str,
    backend: str = AUTO,
    mask: torch.Tensor | None = None,
    scale: float,
    v_scale: float,
    out: torch.Tensor | None,
    lse: torch.Tensor | None,
    return_lse: bool,
    sinks: torch.Tensor | None,
    variant: Variant | None,
    scalars: Mapping[str, float] | None,
    enable_pdl: bool | None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Compute (out, lse), the second where it is asked for. `mask` is packed."""
    place = Place(hnd=hnd)
    attention = Attention(op, kernel, q.device, place=place, one_call=True, variant=variant)
    keys = torch.tensor([0, shape_of_keys(op, q, k, hnd)[0]], dtype=torch.int32)
    one = Lengths(1, keys, q_len=q.shape[0])
    work = prefill_work(
        op,
        q.device,
        backend,
        one,
        chosen,
        q.shape[0],
        masked=mask is not None,
        has_variant=variant is not None,
        why=why,
        argument="q",
    )
    counts = attention.plan(work)
    if mask is not None:
        check_bits(op, mask, counts.mask_end)
    written = lse_for_kernel(op, lse, q) if return_lse else None
    out = attention.run(
        q,
        k,
        v,
        out=out,
        lse=written,
        mask=mask,
        sinks=sinks,
        scale=scale,
        v_scale=v_scale,
        scalars=scalars,
        enable_pdl=enable_pdl,
    )
    return out, written


def mask_of_one(
    op: str,
    q_len: int,
    kv_len: int,
    custom_mask: torch.Tensor | None,
    packed: torch.Tensor | None,
    packbits: Callable[..., torch.Tensor],
) -> torch.Tensor | None:
    """Pack the mask of one request; None where there is none."""
    if packed is not None or custom_mask is None:
        return packed
    if custom_mask.numel() != q_len * kv_len:
        raise ValueError(
            f"{op}: argument 'custom_mask' has shape {tuple(custom_mask.shape)}; it is "
            f"({q_len}, {kv_len})"
        )
    return packbits(custom_mask.contiguous().view(-1), "little")
