"""Values of a call: which inputs are stored, and the lengths of sequences in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

_INTEGERS = (torch.int32, torch.int64)
# Names by which kernels call them: page tables may begin with 0 and rise as well.
_OFFSETS = re.compile(r"indptr|offset|start_loc|cu_")
_LENGTHS = re.compile(r"(^|_)(len|lens|length|lengths)$")

# (inputs of a call) -> names of those that are stored; the others will be random.
InputPolicy = Callable[[Mapping[str, Any]], Iterable[str]]


def dump_all(inputs: Mapping[str, Any]) -> list[str]:
    """Store every tensor."""
    return [name for name, value in inputs.items() if isinstance(value, torch.Tensor)]


def dump_none(inputs: Mapping[str, Any]) -> list[str]:
    """Store no tensor."""
    return []


def dump_integers(inputs: Mapping[str, Any]) -> list[str]:
    """Store tensors of int32 and int64: offsets, lengths and page tables cannot be random."""
    return [name for name in dump_all(inputs) if inputs[name].dtype in _INTEGERS]


INPUT_POLICIES: Mapping[str, InputPolicy] = {
    "dump_all": dump_all,
    "dump_none": dump_none,
    "dump_integers": dump_integers,
    "dump_int32": dump_integers,
}


def snapshot(inputs: Mapping[str, Any], names: Iterable[str]) -> dict[str, torch.Tensor]:
    """Copy tensors to the CPU; a copy from a GPU waits for it."""
    copies = {}
    for name in names:
        value = inputs[name]
        if isinstance(value, torch.Tensor):
            copy = value.detach().cpu()
            copies[name] = copy.clone(memory_format=torch.contiguous_format)
    return copies


def lengths_of(tensors: Mapping[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    """Return the lengths that tensors named for offsets, or for lengths, hold."""
    lengths = {}
    for name, tensor in tensors.items():
        if tensor.dim() != 1 or tensor.dtype not in _INTEGERS or not tensor.numel():
            continue
        if _OFFSETS.search(name):
            steps = tensor.diff()
            if len(steps) and bool((steps >= 0).all()):
                lengths[name] = tuple(steps.tolist())
        elif _LENGTHS.search(name):
            lengths[name] = tuple(tensor.tolist())
    return lengths
