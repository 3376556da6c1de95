"""Which arguments of a call a gradient is wanted of, however deep in lists the tensors are."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch.autograd.forward_ad import unpack_dual


def wants_gradient(value: Any) -> bool:
    """Backward, where grad mode is on; forward, of a dual tensor, always."""
    if isinstance(value, torch.Tensor):
        return torch.is_grad_enabled() and value.requires_grad or is_dual(value)
    if isinstance(value, list | tuple | set | frozenset):
        return any([wants_gradient(each) for each in value])
    if isinstance(value, dict):
        return any([wants_gradient(each) for each in value.values()])
    if is_dataclass(value) and not isinstance(value, type):
        return any([wants_gradient(getattr(value, each.name)) for each in fields(value)])
    return False


def is_dual(tensor: torch.Tensor) -> bool:
    """Whether it has a tangent, as in forward-mode differentiation."""
    return unpack_dual(tensor).tangent is not None  # type: ignore[no-untyped-call]
