"""What torch calls a definition's element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fictl.trace.documents.tensor_spec import torch_name

if TYPE_CHECKING:
    import torch


def torch_dtype(name: str) -> torch.dtype:
    """Of a definition's word for it."""
    import torch

    dtype: torch.dtype = getattr(torch, torch_name(name))
    return dtype
