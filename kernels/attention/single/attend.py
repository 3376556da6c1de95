"""Attention of one request, run by a plan that is made where no earlier call was like it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from fictl.op import KernelModule

from .._arguments.head_scales import NO_SCALES, HeadScales
from .._arguments.lse import lse_for_kernel
from .._arguments.options import Options
from .._backends import AUTO
from .._plan.attention import Attention
from .._plan.lengths import Lengths
from .._plan.prefill import prefill_work
from .._plan.tensors import Place
from .._plan.workspace import Scratch
from .._variant.variant import Variant
from .._wrapper.masks import check_bits
from .plans import Plans, stream_of

PLANS = Plans()


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
    head_scales: HeadScales = NO_SCALES,
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
    device, q_len, stream = q.device, q.shape[0], stream_of(q.device)
    kv_len, masked = k.shape[1 if hnd else 0], mask is not None
    key = (kernel, op, device, stream, q_len, kv_len, hnd, chosen, masked, backend, variant)
    kept = None if stream is None else PLANS.find(key)
    attention = kept
    if attention is None:
        scratch = Scratch(device) if stream is None else PLANS.scratch(device, stream)
        attention = Attention(
            op, kernel, device, place=Place(hnd=hnd), scratch=scratch, variant=variant
        )
        _plan_one(attention, (chosen, q_len, kv_len, masked), backend, why)
    if mask is not None:
        check_bits(op, mask, attention.counts.mask_end)
    written = lse_for_kernel(op, lse, q) if return_lse else None
    out = attention.run(
        q,
        k,
        v,
        out=out,
        lse=written,
        mask=mask,
        sinks=sinks,
        head_scales=head_scales,
        scale=scale,
        v_scale=v_scale,
        scalars=scalars,
        enable_pdl=enable_pdl,
    )
    if kept is None and stream is not None:
        PLANS.keep(key, attention)
    return out, written


def _plan_one(
    attention: Attention, call: tuple[Options, int, int, bool], backend: str, why: str
) -> None:
    chosen, q_len, kv_len, masked = call
    # Why not in inference mode: its tensors could not be written outside of it.
    with torch.inference_mode(False):
        one = Lengths(1, torch.tensor([0, kv_len], dtype=torch.int32), q_len=q_len)
        work = prefill_work(
            attention.op,
            attention.device,
            backend,
            one,
            chosen,
            q_len,
            masked=masked,
            has_variant=attention.has_variant,
            why=why,
            argument="q",
        )
        attention.plan(work)


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
