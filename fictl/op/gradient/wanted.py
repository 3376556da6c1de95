"""Detection of arguments that require a gradient, also of tensors in nested lists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch.autograd.forward_ad import unpack_dual

from fictl.op.gradient.refusal import BACKWARD, FORWARD


def wanted_of(value: Any) -> str:
    """Return BACKWARD if grad is required and enabled, FORWARD for a dual tensor, else ''."""
    if isinstance(value, torch.Tensor):
        if torch.is_grad_enabled() and value.requires_grad:
            return BACKWARD
        return FORWARD if is_dual(value) else ""
    for part in _parts(value):
        mode = wanted_of(part)
        if mode:
            return mode
    return ""


def is_dual(tensor: torch.Tensor) -> bool:
    """True if it has a tangent, as in forward-mode differentiation."""
    return unpack_dual(tensor).tangent is not None  # type: ignore[no-untyped-call]


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if isinstance(value, dict):
        return value.values()
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, item.name) for item in fields(value)]
    return ()
