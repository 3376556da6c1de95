"""Calls of dense's kernels: the plan of a call, its workspace, and the launch."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, NamedTuple

import torch
from torch.compiler import is_dynamo_compiling

from fictl.op import KernelModule

from ._arguments import check_output, check_tactic
from ._choice import choose
from ._config import ACTIVATIONS, config_of
from ._cublas import multiply_by_torch
from ._shapes import Matrices, destination
from ._strides import meaningful_strides, rows_are_contiguous, starts_aligned
from ._tactics import Tactic

_EMULATED_SMS = 4
# The backend of products without k, of which bulk copies have nothing to load.
_WITHOUT_K = "sm80"
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
    """The kernel of a call, the numbers that it takes, and the bytes of its workspace."""

    kernel: KernelModule
    parts: int
    group: int
    workspace: int


_plans: dict[tuple[object, ...], Plan] = {}
_sms: dict[torch.device, int] = {}


class Call(NamedTuple):
    """A call of a kernel: what to call, and where its results go.

    The public function itself calls it: an error about a device names that function's arguments.
    """

    function: Callable[..., None]
    arguments: tuple[Any, ...]
    written: torch.Tensor
    out: torch.Tensor

    def result(self) -> torch.Tensor:
        """Return `out`, copied to where kernels could not write it."""
        if self.written is not self.out and not self.out.is_contiguous():
            self.out.copy_(self.written.view(self.out.shape))
        return self.out


def prepared(
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
) -> Call:
    """Prepare the product into `out`, or into a new tensor of `dtype`."""
    a, b, c, shape = operands
    columns = ACTIVATIONS[epilogue.activation].columns
    shape = (*shape[:-1], shape[-1] // columns)
    if out is None:
        out = a.new_empty(shape, dtype=dtype)
    check_output(names.op, out, shape)
    written = destination(out, b.dim())
    alpha, beta, activation = epilogue
    if backend == "cublas":
        arguments = (a, b, c, bias, written, alpha, beta, activation)
        return Call(multiply_by_torch, arguments, written, out)
    c = None if beta == 0.0 else c
    bias = bias if bias is None or bias.is_contiguous() else bias.contiguous()
    has = (bias is not None, c is not None)
    plan = _planned(names.op, kernel, a, b, out.dtype, activation, has, backend, tactic, num_sms)
    workspace = a.new_empty((plan.workspace,), dtype=torch.uint8) if plan.workspace else None
    c = None if c is written else c  # The kernel finds it in out.
    tensors = (written, a, b, c, bias, workspace)
    pdl = enable_pdl is None or enable_pdl
    numbers = (alpha, beta, columns, plan.parts, plan.group, num_sms, pdl)
    return Call(plan.kernel.dense, (*names, *tensors, *numbers), written, out)


def _planned(
    op: str,
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
        return _plan(op, kernel, a, b, out, activation, has, backend, tactic, num_sms, aligned)
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
        plan = _plan(op, kernel, a, b, out, activation, has, backend, tactic, num_sms, aligned)
        if len(_plans) >= _MOST:
            _plans.clear()
        _plans[key] = plan
    return plan


def _plan(
    op: str,
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
    # Why index: what torch.compile traces is for these sizes, as are the tile and its workspace.
    batch = index(a.shape[0]) if a.dim() == 3 else 1
    sizes = (batch, index(a.shape[-2]), index(b.shape[-2]), index(a.shape[-1]))
    sms = num_sms or _sm_count(a.device)
    named = tactic if tactic is not None and tactic.tile_m else None
    if named is not None:
        check_tactic(op, named, backend)
    if sizes[-1] == 0:
        backend, named = _WITHOUT_K, None
    tactic = choose(backend, named, sms, *sizes, heavy=any(has) or activation != "none")
    rows = (rows_are_contiguous(a), rows_are_contiguous(b))
    config = config_of(a.dtype, out, rows, activation, has, backend, tactic)
    built = kernel[tuple(config)]
    bytes_ = built.dense_workspace(
        *sizes,
        *meaningful_strides(a),
        aligned[0],
        *meaningful_strides(b),
        aligned[1],
        tactic.parts,
        sms,
    )
    return Plan(built, tactic.parts, tactic.group, bytes_)


def _sm_count(device: torch.device) -> int:
    if device.type != "cuda":
        return _EMULATED_SMS
    count = _sms.get(device)
    if count is None:
        count = _sms[device] = torch.cuda.get_device_properties(device).multi_processor_count
    return count
