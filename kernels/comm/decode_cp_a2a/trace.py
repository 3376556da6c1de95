"""Traces of decode_cp_a2a. The references run on every rank, too."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.trace import Const, Tensor, TraceTemplate, Var

_LN_2 = 0.6931471805599453


def _sent_here(x: torch.Tensor) -> torch.Tensor:
    """Return the slices of all ranks for this one."""
    if not dist.is_initialized():
        return x.clone()
    every = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(every, x.contiguous())
    return torch.stack([one[:, dist.get_rank()] for one in every], 1)


def _alltoall(partial_o: torch.Tensor, softmax_stats: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return _sent_here(partial_o), _sent_here(softmax_stats)


def _lse_reduce(partial_o: torch.Tensor, partial_lse: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(_sent_here(partial_lse) * _LN_2, -1)
    return (weights.unsqueeze(-1) * _sent_here(partial_o)).sum(-2)


_AXES: dict[str, Const | Var] = {
    "rows": Var("heads of tokens"),
    "ranks": Var("ranks of context parallelism"),
    "head_dim": Const("values of a head", "d"),
    "stats": Const("statistics of a row", "s"),
}
_OURS = ("workspace", "cp_rank", "cp_size")

decode_cp_a2a_alltoall = TraceTemplate(
    axes=_AXES,
    inputs={
        "partial_o": Tensor(("rows", "ranks", "head_dim")),
        "softmax_stats": Tensor(("rows", "ranks", "stats"), dtype="float32"),
    },
    outputs={
        "received": Tensor(("rows", "ranks", "head_dim"), dtype_from="partial_o"),
        "received_stats": Tensor(("rows", "ranks", "stats"), dtype="float32"),
    },
    reference=_alltoall,
    constraints=("head_dim % 8 == 0", "stats % 2 == 0"),
    at_default=_OURS,
    op_type="comm",
    description="Exchange of slices among ranks of context parallelism.",
)

decode_cp_a2a_lse_reduce = TraceTemplate(
    axes={name: axis for name, axis in _AXES.items() if name != "stats"},
    inputs={
        "partial_o": Tensor(("rows", "ranks", "head_dim")),
        "partial_lse": Tensor(("rows", "ranks"), dtype="float32"),
    },
    outputs={"out": Tensor(("rows", "head_dim"), dtype_from="partial_o")},
    reference=_lse_reduce,
    constraints=("head_dim % 8 == 0",),
    at_default=(*_OURS, "lse_mode"),
    op_type="comm",
    description="Exchange of slices among ranks of context parallelism, averaged by their lse.",
)
