"""Products with few rows: the scores of a mixture's experts, and other small projections."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .._arguments import check_bf16, check_inner, check_output
from .._strides import bulk_addressable
from ..dense.op import dense

kernel = KernelModule(__file__)

# The rows up to which reading a again for every 16 columns costs less than its staging.
_MOST_ROWS = 64
_MOST_ROUTED = 16


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out", uses="dense")
def tinygemm_bf16(
    input: torch.Tensor,
    weight: torch.Tensor,
    out: torch.Tensor,
    bias: torch.Tensor | None = None,
    use_pdl: bool = False,
) -> None:
    """Compute out = input @ weight.T + bias of few rows, summed in fp32 and rounded once.

    input: (m, k), bf16. With more than 64 rows, or rows that do not start at multiples of 16 bytes,
        it is what dense computes.
    weight: (n, k), bf16, likewise.
    out: (m, n), bf16 or fp32; written.
    bias: (n,), bf16. None adds nothing.
    use_pdl: launch with programmatic dependent launch where the GPU supports it.
    """
    check_bf16("tinygemm_bf16", 2, input=input, weight=weight)
    k = (input.shape[1], weight.shape[1])
    check_inner("tinygemm_bf16", input, weight, *k, ("input", "weight"))
    check_output("tinygemm_bf16", out, (input.shape[0], weight.shape[0]))
    few = input.shape[0] <= _MOST_ROWS and out.dtype in (torch.float32, torch.bfloat16)
    plain = out.shape[1] <= 1 or out.stride(1) == 1
    if few and plain and bulk_addressable(input) and bulk_addressable(weight):
        kernel.router("tinygemm_bf16", "input", "weight", out, input, weight, bias, use_pdl)
    else:
        dense(input, weight, bias=bias, out=out, enable_pdl=use_pdl)


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out")
def mm_M1_16_K7168_N128(  # noqa: N802 FlashInfer's name
    mat_a: torch.Tensor, mat_b: torch.Tensor, out: torch.Tensor, launch_with_pdl: bool = True
) -> None:
    """Compute out = mat_a @ mat_b: the scores of 128 experts for up to 16 tokens.

    mat_a: (m, 7168), bf16.
    mat_b: (7168, 128), bf16: the router's weight.T; one of other strides is copied first.
    out: (m, 128), fp32; written.
    launch_with_pdl: launch with programmatic dependent launch where the GPU supports it.
    """
    _routed("mm_M1_16_K7168_N128", mat_a, mat_b, out, (7168, 128), torch.float32, launch_with_pdl)


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out")
def mm_M1_16_K7168_N256(  # noqa: N802
    mat_a: torch.Tensor, mat_b: torch.Tensor, out: torch.Tensor, launch_with_pdl: bool = True
) -> None:
    """Compute the scores of 256 experts in fp32; arguments as in mm_M1_16_K7168_N128."""
    _routed("mm_M1_16_K7168_N256", mat_a, mat_b, out, (7168, 256), torch.float32, launch_with_pdl)


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out")
def mm_M1_16_K7168_N256_bf16(  # noqa: N802
    mat_a: torch.Tensor, mat_b: torch.Tensor, out: torch.Tensor, launch_with_pdl: bool = True
) -> None:
    """Compute the scores of 256 experts in bf16; arguments as in mm_M1_16_K7168_N128."""
    name = "mm_M1_16_K7168_N256_bf16"
    _routed(name, mat_a, mat_b, out, (7168, 256), torch.bfloat16, launch_with_pdl)


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out")
def mm_M1_16_K7168_N384(  # noqa: N802
    mat_a: torch.Tensor, mat_b: torch.Tensor, out: torch.Tensor, launch_with_pdl: bool = True
) -> None:
    """Compute the scores of 384 experts in fp32; arguments as in mm_M1_16_K7168_N128."""
    _routed("mm_M1_16_K7168_N384", mat_a, mat_b, out, (7168, 384), torch.float32, launch_with_pdl)


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out")
def mm_M1_16_K7168_N384_bf16(  # noqa: N802
    mat_a: torch.Tensor, mat_b: torch.Tensor, out: torch.Tensor, launch_with_pdl: bool = True
) -> None:
    """Compute the scores of 384 experts in bf16; arguments as in mm_M1_16_K7168_N128."""
    name = "mm_M1_16_K7168_N384_bf16"
    _routed(name, mat_a, mat_b, out, (7168, 384), torch.bfloat16, launch_with_pdl)


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out")
def mm_M1_16_K7168_N896(  # noqa: N802
    mat_a: torch.Tensor, mat_b: torch.Tensor, out: torch.Tensor, launch_with_pdl: bool = True
) -> None:
    """Compute the scores of 896 experts in fp32; arguments as in mm_M1_16_K7168_N128."""
    _routed("mm_M1_16_K7168_N896", mat_a, mat_b, out, (7168, 896), torch.float32, launch_with_pdl)


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out")
def mm_M1_16_K7168_N896_bf16(  # noqa: N802
    mat_a: torch.Tensor, mat_b: torch.Tensor, out: torch.Tensor, launch_with_pdl: bool = True
) -> None:
    """Compute the scores of 896 experts in bf16; arguments as in mm_M1_16_K7168_N128."""
    name = "mm_M1_16_K7168_N896_bf16"
    _routed(name, mat_a, mat_b, out, (7168, 896), torch.bfloat16, launch_with_pdl)


@op(archs=">=8.0", dtypes="bf16", devices="cuda emu", mutates="out")
def mm_M1_16_K6144_N256(  # noqa: N802
    mat_a: torch.Tensor, mat_b: torch.Tensor, out: torch.Tensor, launch_with_pdl: bool = True
) -> None:
    """Compute the scores of 256 experts of 6144 in fp32; arguments as in mm_M1_16_K7168_N128."""
    _routed("mm_M1_16_K6144_N256", mat_a, mat_b, out, (6144, 256), torch.float32, launch_with_pdl)


def _routed(
    name: str,
    mat_a: torch.Tensor,
    mat_b: torch.Tensor,
    out: torch.Tensor,
    weight: tuple[int, int],
    dtype: torch.dtype,
    pdl: bool,
) -> None:
    """Check the sizes that the name promises, and compute the scores."""
    check_bf16(name, 2, mat_a=mat_a, mat_b=mat_b)
    if mat_a.shape[0] > _MOST_ROUTED or mat_a.shape[1] != weight[0] or mat_b.shape != weight:
        raise ValueError(
            f"{name}: arguments 'mat_a' and 'mat_b' have shapes {tuple(mat_a.shape)} and "
            f"{tuple(mat_b.shape)}; they are (m, {weight[0]}) with up to {_MOST_ROUTED} rows, and "
            f"{weight}: tinygemm_bf16 takes any"
        )
    if out.dtype != dtype:
        raise TypeError(
            f"{name}: argument 'out' has dtype {str(out.dtype).removeprefix('torch.')}; accepted: "
            f"{str(dtype).removeprefix('torch.')}"
        )
    check_output(name, out, (mat_a.shape[0], weight[1]))
    a, b = _addressable(mat_a), _addressable(mat_b.t())
    kernel.router(name, "mat_a", "mat_b", out, a, b, None, pdl)


def _addressable(x: torch.Tensor) -> torch.Tensor:
    """Copy what copies of 16 bytes do not address, such as a weight of the other order."""
    return x if bulk_addressable(x) else x.clone(memory_format=torch.contiguous_format)
