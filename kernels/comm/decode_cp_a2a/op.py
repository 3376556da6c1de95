"""decode_cp_a2a: exchange attention over parts of the keys among ranks of context parallelism."""

from __future__ import annotations

import math
from typing import Any

import torch

from fictl.comm import Workspace, shared_workspace
from fictl.op import KernelModule, op

from .._workspace_tensors import as_workspace

kernel = KernelModule(__file__)

# Bytes of a workspace that callers do not size: a larger call is made in parts.
ROOM = 16 << 20
_TO_BASE_2 = {"base2": 1.0, "basee": math.log2(math.e)}
_WORD_BYTES = 16
_MOST_WORDS = (1 << 31) - 1


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out")
def decode_cp_a2a_alltoall(
    partial_o: torch.Tensor,
    softmax_stats: torch.Tensor,
    workspace: torch.Tensor | Workspace | None = None,
    cp_rank: int | None = None,
    cp_size: int | None = None,
    enable_pdl: bool | None = None,
    out: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Send partial_o[..., peer, :] to each peer, and return what they send to this rank.

    partial_o: (..., cp_size, head_dim); last dimension contiguous, of a multiple of 16 bytes.
    softmax_stats: (..., cp_size, n), float32, n even: sent along.
    workspace: what decode_cp_a2a_allocate_mnnvl_workspace() returns, or a fictl.comm.Workspace.
        None: that of torch's default group.
    cp_rank, cp_size: this rank and their number, as the workspace has them. None: not compared.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    out: tensors like the inputs, contiguous. None allocates them.
    """
    name = "decode_cp_a2a_alltoall"
    room = _workspace(name, workspace, cp_rank, cp_size, partial_o)
    values = _slices(name, "partial_o", partial_o, room.size)
    stats = _slices(name, "softmax_stats", softmax_stats, room.size)
    _check_sizes(name, values, stats, even=True)
    if out is None:
        out = (_like(partial_o), _like(softmax_stats))
    outs = [x.view(y.shape) for x, y in zip(out, (values, stats), strict=True)]
    for rows in _parts(values, stats, room):
        kernel.decode_cp_a2a_alltoall(
            outs[0][rows],
            outs[1][rows],
            values[rows],
            stats[rows],
            room.memory,
            room.table,
            enable_pdl is None or enable_pdl,
        )
    return out


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out")
def decode_cp_a2a_lse_reduce(
    partial_o: torch.Tensor,
    partial_lse: torch.Tensor,
    workspace: torch.Tensor | Workspace | None = None,
    cp_rank: int | None = None,
    cp_size: int | None = None,
    lse_mode: str = "base2",
    enable_pdl: bool | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Send partial_o[..., peer, :] to each peer, and average what they send to this rank.

    The weights are the powers of two (or e) of the lse; a slice whose lse is not finite has no
    keys. Averaged in the order of the ranks, and rounded once from fp32.

    partial_o: (..., cp_size, head_dim); last dimension contiguous, of a multiple of 16 bytes.
    partial_lse: (..., cp_size), float32: logarithms of the sums of the exponentials.
    workspace: what decode_cp_a2a_lse_reduce_create_workspace() returns, or a
        fictl.comm.Workspace. None: that of torch's default group.
    cp_rank, cp_size: this rank and their number, as the workspace has them. None: not compared.
    lse_mode: base2, or basee for natural logarithms.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    out: (..., head_dim), contiguous. None allocates it.
    """
    name = "decode_cp_a2a_lse_reduce"
    if lse_mode not in _TO_BASE_2:
        raise ValueError(f"{name}: lse_mode must be 'base2' or 'basee', not {lse_mode!r}")
    room = _workspace(name, workspace, cp_rank, cp_size, partial_o)
    values = _slices(name, "partial_o", partial_o, room.size)
    lse = _slices(name, "partial_lse", partial_lse.unsqueeze(-1), room.size)
    _check_sizes(name, values, lse)
    if out is None:
        out = partial_o.new_empty((*partial_o.shape[:-2], partial_o.shape[-1]))
    merged = out.view(-1, partial_o.shape[-1])
    for rows in _parts(values, lse, room):
        kernel.decode_cp_a2a_lse_reduce(
            merged[rows],
            values[rows],
            lse[rows],
            room.memory,
            room.table,
            _TO_BASE_2[lse_mode],
            enable_pdl is None or enable_pdl,
        )
    return out


def _slices(op: str, name: str, x: torch.Tensor, cp_size: int) -> torch.Tensor:
    """View it as (rows, ranks, size); a copy where no view has these dimensions."""
    if x.dim() < 2 or x.shape[-2] != cp_size:
        raise ValueError(
            f"{op}: argument '{name}' has shape {tuple(x.shape)}, which has no dimension for "
            f"{cp_size} ranks before the last one"
        )
    return x.reshape(math.prod(x.shape[:-2]), cp_size, x.shape[-1])


def _check_sizes(op: str, values: torch.Tensor, stats: torch.Tensor, even: bool = False) -> None:
    if values.shape[0] != stats.shape[0]:
        raise ValueError(
            f"{op}: the values have {values.shape[0]} rows, the statistics {stats.shape[0]}"
        )
    if values.shape[2] * values.element_size() % _WORD_BYTES or not values.shape[2]:
        raise ValueError(
            f"{op}: argument 'partial_o' has a last dimension of {values.shape[2]}, which is not "
            f"of a multiple of {_WORD_BYTES} bytes"
        )
    if even and (stats.shape[2] % 2 or not stats.shape[2]):
        raise ValueError(
            f"{op}: argument 'softmax_stats' has a last dimension of {stats.shape[2]}, which is "
            "not even"
        )


def _workspace(
    op: str, given: Any, rank: int | None, size: int | None, x: torch.Tensor
) -> Workspace:
    room = as_workspace(
        op, shared_workspace(ROOM, x.device) if given is None else given, rank, size
    )
    room.require(op, 0)
    return room


def _like(x: torch.Tensor) -> torch.Tensor:
    return torch.empty(x.shape, dtype=x.dtype, device=x.device)


def _parts(values: torch.Tensor, stats: torch.Tensor, workspace: Workspace) -> list[slice]:
    """Return rows of calls that the workspace has room for: equal on all ranks."""
    row = values.shape[2] * values.element_size() + 4 * stats.shape[2]
    room = workspace.bytes // 2 // workspace.size - _WORD_BYTES
    words = values.shape[2] * values.element_size() // _WORD_BYTES
    most = min(room // row, _MOST_WORDS // words)
    if most < 1:
        workspace.require("decode_cp_a2a", 2 * workspace.size * (row + _WORD_BYTES))
    return [slice(first, first + most) for first in range(0, values.shape[0], most)]
