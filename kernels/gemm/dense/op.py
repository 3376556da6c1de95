"""Matrix products with an epilogue, of bf16 and fp16."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.op import KernelModule, op

from .._arguments import (
    check_activation,
    check_bf16,
    check_inner,
    check_matrices,
    check_num_sms,
    check_operand,
    output_dtype,
)
from .._multiply import Epilogue, Names, prepared
from .._shapes import matrices
from .._tactics import TACTICS, Tactic
from .jit import module

kernel = KernelModule(module)


def tactics(backend: str) -> Iterator[Tactic]:
    """Yield the tactics of a backend: first the one that leaves the choice to the model."""
    yield Tactic()
    for known in TACTICS.get(backend, ()):
        yield known.tactic


@op(
    backends={"sm90": "9.0a", "sm80": ">=8.0", "cublas": ">=8.0"},
    dtypes="bf16 f16",
    devices="cuda emu",
    mutates="out",
    tactics=tactics,
)
def dense(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    activation: str = "none",
    *,
    out: torch.Tensor | None = None,
    out_dtype: torch.dtype | None = None,
    backend: str = "auto",
    tactic: Tactic | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Compute activation(alpha * a @ b.mT + beta * c + bias), summed in fp32 and rounded once.

    The same call gives the same bits in every run.

    a: (..., m, k), bf16 or fp16; any strides, of which multiples of 16 bytes along rows or columns
        are fast: others are copied first.
    b: (n, k), as a linear layer stores its weight, or (..., n, k), whose leading dimensions are
        broadcast against a's; of a's dtype, any strides.
    c: (..., m, n), of out's dtype; may be out itself. None adds nothing.
    bias: (n,), of a's dtype. None adds nothing.
    alpha, beta: factors of the product and of c, which is not read if beta is 0.
    activation: none, relu, gelu (by the error function), gelu_tanh or silu; or swiglu or geglu, for
        which columns 2j and 2j + 1 become one: silu or gelu of the first, times the second.
    out: (..., m, n), or (..., m, n / 2) of swiglu and geglu; not in a or b. None allocates it.
    out_dtype: bf16, fp16 or fp32. None is out's, or a's.
    backend: "sm90": kernels on wgmma and bulk copies; "sm80": on mma.sync; "cublas": torch's
        functions, one call where cuBLAS has the product with its bias or c, else fp32 between
        torch's kernels. "auto": the first of ours that runs on the GPU.
    tactic: how the kernel tiles the product. None: the one tuned for such sizes, or the model's.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    check_operand("dense", "a", a)
    check_operand("dense", "b", b)
    check_activation("dense", activation)
    check_inner("dense", a, b, a.shape[-1], b.shape[-1])
    dtype = output_dtype("dense", a, out, out_dtype)
    flat = matrices("dense", a, b, c)
    epilogue = Epilogue(alpha, beta, activation)
    call = prepared(
        kernel,
        Names("dense"),
        flat,
        bias,
        out,
        dtype,
        epilogue,
        backend,
        tactic,
        enable_pdl=enable_pdl,
    )
    call.function(*call.arguments)
    return call.result()


@op(
    backends={"sm90": "9.0a", "sm80": ">=8.0", "cublas": ">=8.0"},
    dtypes="bf16 f16",
    devices="cuda emu",
    mutates="out",
    tactics=tactics,
)
def linear_silu(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    out: torch.Tensor | None = None,
    backend: str = "auto",
    tactic: Tactic | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Compute silu(input @ weight.T + bias): a linear layer with its activation, rounded once.

    input: (..., m, k), bf16 or fp16; any strides.
    weight: (n, k), of input's dtype; any strides.
    bias: (n,), of input's dtype. None adds nothing.
    out: (..., m, n), not in input or weight. None allocates it with input's dtype.
    backend, tactic, enable_pdl: as in dense, which has other activations.
    """
    name = "linear_silu"
    check_operand(name, "input", input)
    check_matrices(name, weight=weight)
    check_inner(name, input, weight, input.shape[-1], weight.shape[1], ("input", "weight"))
    dtype = output_dtype(name, input, out, None)
    flat = matrices(name, input, weight, None)
    call = prepared(
        kernel,
        Names(name, "input", "weight"),
        flat,
        bias,
        out,
        dtype,
        Epilogue(activation="silu"),
        backend,
        tactic,
        enable_pdl=enable_pdl,
    )
    call.function(*call.arguments)
    return call.result()


@op(
    backends={"sm90": "9.0a", "sm80": ">=8.0", "cublas": ">=8.0"},
    dtypes="bf16",
    devices="cuda emu",
    mutates="out",
    tactics=tactics,
)
def mm_bf16(
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None = None,
    pdl: bool = False,
    out: torch.Tensor | None = None,
    out_dtype: torch.dtype = torch.bfloat16,
    backend: str = "auto",
    tactic: Tactic | None = None,
) -> torch.Tensor:
    """Compute a @ b + bias of bf16 matrices, summed in fp32 and rounded once.

    a: (m, k), bf16, any strides.
    b: (k, n), bf16, any strides: a linear layer's weight is passed as weight.T.
    bias: (n,), bf16. None adds nothing.
    pdl: launch with programmatic dependent launch where the GPU supports it.
    out: (m, n), not in a or b. None allocates it.
    out_dtype: bf16, fp16 or fp32; ignored if out is given.
    backend, tactic: as in dense.
    """
    check_bf16("mm_bf16", 2, a=a, b=b)
    check_inner("mm_bf16", a, b, a.shape[1], b.shape[0])
    dtype = output_dtype("mm_bf16", a, out, None if out is not None else out_dtype)
    flat = matrices("mm_bf16", a, b.t(), None)
    call = prepared(
        kernel,
        Names("mm_bf16"),
        flat,
        bias,
        out,
        dtype,
        Epilogue(),
        backend,
        tactic,
        enable_pdl=pdl,
    )
    call.function(*call.arguments)
    return call.result()


@op(
    backends={"sm90": "9.0a", "sm80": ">=8.0", "cublas": ">=8.0"},
    dtypes="bf16",
    devices="cuda emu",
    mutates="out",
    tactics=tactics,
)
def bmm_bf16(
    A: torch.Tensor,  # noqa: N803 FlashInfer's name
    B: torch.Tensor,  # noqa: N803
    out: torch.Tensor | None = None,
    out_dtype: torch.dtype = torch.bfloat16,
    backend: str = "auto",
    tactic: Tactic | None = None,
) -> torch.Tensor:
    """Compute A @ B of batches of bf16 matrices, summed in fp32 and rounded once.

    A: (b, m, k), bf16, any strides.
    B: (b, k, n), bf16, any strides.
    out: (b, m, n), not in A or B. None allocates it.
    out_dtype: bf16, fp16 or fp32; ignored if out is given.
    backend, tactic: as in dense.
    """
    check_bf16("bmm_bf16", 3, A=A, B=B)
    check_inner("bmm_bf16", A, B, A.shape[2], B.shape[1], ("A", "B"))
    dtype = output_dtype("bmm_bf16", A, out, None if out is not None else out_dtype)
    flat = matrices("bmm_bf16", A, B.transpose(1, 2), None)
    names = Names("bmm_bf16", "A", "B")
    call = prepared(kernel, names, flat, None, out, dtype, Epilogue(), backend, tactic)
    call.function(*call.arguments)
    return call.result()


@op(
    backends={"sm90": "9.0a", "sm80": ">=8.0", "cublas": ">=8.0"},
    dtypes="bf16 f16",
    devices="cuda emu",
    mutates="c",
    tactics=tactics,
)
def gemm_alpha_beta(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    trans_a: bool = False,
    trans_b: bool = True,
    alpha: float = 1.0,
    beta: float = 0.0,
    num_sms: int | None = None,
    backend: str = "auto",
    tactic: Tactic | None = None,
) -> torch.Tensor:
    """Compute c = alpha * a @ b + beta * c in place, summed in fp32 and rounded once.

    a: (m, k), or (k, m) if trans_a; bf16 or fp16, any strides.
    b: (k, n), or (n, k) if trans_b; of a's dtype, any strides.
    c: (m, n), bf16, fp16 or fp32; written. It is not read if beta is 0.
    num_sms: leave the other SMs to kernels that run at the same time. None: use all.
    backend, tactic: as in dense; "cublas" uses all SMs.
    """
    name = "gemm_alpha_beta"
    check_matrices(name, a=a, b=b)
    check_num_sms(name, num_sms)
    rows = a.t() if trans_a else a
    weight = b if trans_b else b.t()
    check_inner(name, a, b, rows.shape[1], weight.shape[1])
    dtype = output_dtype(name, a, c, None)
    flat = matrices(name, rows, weight, c if beta != 0.0 else None)
    epilogue = Epilogue(alpha, beta)
    call = prepared(
        kernel, Names(name), flat, None, c, dtype, epilogue, backend, tactic, num_sms=num_sms or 0
    )
    call.function(*call.arguments)
    return call.result()
