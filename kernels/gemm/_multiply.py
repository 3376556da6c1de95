"""Calls of dense's kernels: the plan of a call, its workspace, and the launch."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.compiler import is_dynamo_compiling

from fictl.op import KernelModule

from ._arguments import check_output
from ._choice import choose
from ._config import ACTIVATIONS, Config
from ._cublas import multiply_by_torch
from ._shapes import Matrices, destination
from ._strides import meaningful_strides, rows_are_contiguous, starts_aligned
from ._tactics import Tactic

_EMULATED_SMS = 4
_MOST = 16384


class Epilogue(NamedTuple):
    """The numbers and the activation of activation(alpha a b^T + beta c + bias)."""

    alpha: float = 1.0
    beta: float = 1.0
    activation: str = "none"


class Names(NamedTuple):
    """The op that was called, and its names of a and b, for messages."""

    op: str
    a: str = "a"
    b: str = "b"


class Plan(NamedTuple):
    """The kernel of a call, the parts that it splits k into, and the bytes of its workspace."""

    kernel: KernelModule
    parts: int
    workspace: int


_plans: dict[tuple[object, ...], Plan] = {}
_sms: dict[torch.device, int] = {}


def product(
    kernel: KernelModule,
    names: Names,
    operands: Matrices,
    bias: torch.Tensor | None,
    out: torch.Tensor | None,
    dtype: torch.dtype,
    epilogue: Epilogue,
    backend: str,
    tactic: Tactic | None = None,
    num_sms: int = 0,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Compute the product into `out`, or into a new tensor of `dtype`."""
    a, b, c, shape = operands
    shape = (*shape[:-1], shape[-1] // ACTIVATIONS[epilogue.activation].columns)
    if out is None:
        out = a.new_empty(shape, dtype=dtype)
    check_output(names.op, out, shape)
    written = destination(out, b.dim())
    if backend == "cublas":
        multiply_by_torch(a, b, c, bias, written, *epilogue)
    else:
        _launch(
            kernel, names, operands, bias, written, epilogue, backend, tactic, num_sms, enable_pdl
        )
    if written is not out and not out.is_contiguous():
        out.copy_(written.view(out.shape))
    return out


def _launch(
    kernel: KernelModule,
    names: Names,
    operands: Matrices,
    bias: torch.Tensor | None,
    out: torch.Tensor,
    epilogue: Epilogue,
    backend: str,
    tactic: Tactic | None,
    num_sms: int,
    enable_pdl: bool | None,
) -> None:
    a, b, c, _ = operands
    alpha, beta, activation = epilogue
    if beta == 0.0:
        c = None
    if bias is not None and not bias.is_contiguous():
        bias = bias.contiguous()
    has = (bias is not None, c is not None)
    plan = _planned(kernel, a, b, out.dtype, activation, has, backend, tactic, num_sms)
    workspace = None
    if plan.workspace:
        workspace = a.new_empty((plan.workspace,), dtype=torch.uint8)
    plan.kernel.dense(
        *names,
        out,
        a,
        b,
        None if c is out else c,
        bias,
        workspace,
        alpha,
        beta,
        ACTIVATIONS[activation].columns,
        plan.parts,
        num_sms,
        enable_pdl is None or enable_pdl,
    )


def _planned(
    kernel: KernelModule,
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.dtype,
    activation: str,
    has: tuple[bool, bool],
    backend: str,
    tactic: Tactic | None,
    num_sms: int,
) -> Plan:
    """Return the plan of such a call, which is remembered; not while torch.compile traces."""
    aligned = (starts_aligned(a), starts_aligned(b))
    if is_dynamo_compiling():
        return _plan(kernel, a, b, out, activation, has, backend, tactic, num_sms, aligned)
    key = (
        a.shape,
        a.stride(),
        b.shape,
        b.stride(),
        aligned,
        a.dtype,
        out,
        activation,
        has,
        backend,
        tactic,
        num_sms,
        a.device,
        id(kernel),
    )
    plan = _plans.get(key)
    if plan is None:
        plan = _plan(kernel, a, b, out, activation, has, backend, tactic, num_sms, aligned)
        if len(_plans) >= _MOST:
            _plans.clear()
        _plans[key] = plan
    return plan


def _plan(
    kernel: KernelModule,
    a: torch.Tensor,
    b: torch.Tensor,
    out: torch.dtype,
    activation: str,
    has: tuple[bool, bool],
    backend: str,
    tactic: Tactic | None,
    num_sms: int,
    aligned: tuple[bool, bool],
) -> Plan:
    sizes = (a.shape[0] if a.dim() == 3 else 1, a.shape[-2], b.shape[-2], a.shape[-1])
    sms = num_sms or _sm_count(a.device)
    tactic = choose(backend, tactic if tactic and tactic.tile_m else None, sms, *sizes)
    config = Config(
        a.dtype,
        out,
        rows_are_contiguous(a),
        rows_are_contiguous(b),
        activation,
        *has,
        backend,
        tactic._replace(parts=0),
    )
    built = kernel[config]
    bytes_ = built.dense_workspace(
        *sizes, *meaningful_strides(a), aligned[0], *meaningful_strides(b), aligned[1], tactic.parts
    )
    return Plan(built, tactic.parts, bytes_)


def _sm_count(device: torch.device) -> int:
    if device.type != "cuda":
        return _EMULATED_SMS
    count = _sms.get(device)
    if count is None:
        count = _sms[device] = torch.cuda.get_device_properties(device).multi_processor_count
    return count
