"""packbits: pack eight bools into a byte, of an array or of each segment of a ragged batch."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="b8", devices="cuda emu", mutates="out")
def packbits(
    x: torch.Tensor,
    bitorder: str = "big",
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Pack eight elements of x into each byte, as numpy.packbits does, padded with 0.

    x: (elements,), contiguous; a dtype other than bool is compared with 0.
    bitorder: 'big' makes the first of eight elements the highest bit, 'little' the lowest.
    out: (ceil(elements / 8),), uint8. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if x.dtype is not torch.bool:
        x = x.to(torch.bool)
    if out is None:
        out = x.new_empty((x.numel() + 7) // 8, dtype=torch.uint8)
    kernel.packbits(out, x, bitorder, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="b8", devices="cuda emu", mutates="out out_indptr")
def segment_packbits(
    x: torch.Tensor,
    indptr: torch.Tensor,
    bitorder: str = "big",
    *,
    out: torch.Tensor | None = None,
    out_indptr: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pack every segment x[indptr[i]:indptr[i + 1]] as packbits does; return (out, out_indptr).

    The bytes of segment i are out[out_indptr[i]:out_indptr[i + 1]].

    x: (elements,), contiguous; a dtype other than bool is compared with 0.
    indptr: (segments + 1,), int32 or int64, on x's device: where each segment starts, and where the
        last one ends; non-decreasing.
    bitorder: 'big' makes the first of eight elements the highest bit, 'little' the lowest.
    out: (bytes,), uint8; at least out_indptr[-1] bytes, none of which beyond that is written. None
        allocates it, and waits for the GPU to know the size: (elements + 7 * segments) // 8 bytes
        are always enough.
    out_indptr: (segments + 1,), int32. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if x.dtype is not torch.bool:
        x = x.to(torch.bool)
    pdl = enable_pdl is None or enable_pdl
    if out_indptr is None:
        out_indptr = indptr.new_empty(indptr.shape, dtype=torch.int32)
    if out is None:
        nothing = x.new_empty(0, dtype=torch.uint8)
        kernel.segment_packbits(nothing, out_indptr, x, indptr, bitorder, pdl)
        out = x.new_empty(int(out_indptr[-1]), dtype=torch.uint8)
    kernel.segment_packbits(out, out_indptr, x, indptr, bitorder, pdl)
    return out, out_indptr
