"""Levels of a cascade: arguments that have an entry for each level, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch

# An entry a level: a list, or the rows of one tensor.
PerLevel: TypeAlias = "Sequence[torch.Tensor] | torch.Tensor"

_OP = "MultiLevelCascadeAttentionWrapper"


def each_level(levels: int, **arrays: PerLevel) -> list[tuple[torch.Tensor, ...]]:
    """Take arguments apart: for each level, its entry of every argument."""
    for name, entries in arrays.items():
        if len(entries) != levels:
            raise ValueError(
                f"{_OP}: argument {name!r} has {len(entries)} entries, there are {levels} levels: "
                "pass one for each"
            )
    return [tuple(entries[level] for entries in arrays.values()) for level in range(levels)]


def graph_buffers(
    levels: int, use_cuda_graph: bool, **arrays: PerLevel | None
) -> list[dict[str, Any]]:
    """Name the buffers of each level for CUDA graphs; nothing without them."""
    if levels < 1:
        raise ValueError(f"{_OP}: argument 'num_levels' is {levels}; it is at least 1")
    if not use_cuda_graph:
        return [{} for _ in range(levels)]
    given = {f"{name}_arr": entries for name, entries in arrays.items() if entries is not None}
    if len(given) < len(arrays):
        missing = [f"{name}_arr" for name in arrays if f"{name}_arr" not in given]
        raise ValueError(
            f"{_OP}: use_cuda_graph needs {', '.join(missing)}: a tensor for each level, to which "
            "plan() copies"
        )
    return [dict(zip(arrays, own, strict=True)) for own in each_level(levels, **given)]
