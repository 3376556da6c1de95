"""Modes of attention, and which backend serves a call: fictl has one set of kernels, "fa2"."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = [
    "MaskMode",
    "PosEncodingMode",
    "TensorLayout",
    "determine_attention_backend",
    "is_cutlass_backend_supported",
    "is_fa3_backend_supported",
    "is_fa3_prefill_head_dim_supported",
]


class PosEncodingMode(Enum):
    """`pos_encoding_mode=` by number."""

    NONE = 0
    ROPE_LLAMA = 1
    ALIBI = 2


class MaskMode(Enum):
    """Masks by number: which keys a query attends to."""

    NON_CAUSAL = 0
    CAUSAL = 1
    CUSTOM = 2
    MULTIITEMSCORING = 3


class TensorLayout(Enum):
    """`kv_layout=` by number."""

    NHD = 0
    HND = 1


def determine_attention_backend(
    device: torch.device,
    pos_encoding_mode: int,
    use_fp16_qk_reductions: bool,
    use_custom_mask: bool,
    dtype_q: torch.dtype,
    dtype_kv: torch.dtype,
    *,
    head_dim_qk: int | None = None,
    head_dim_vo: int | None = None,
) -> str:
    """Return what `backend="auto"` of the wrappers stands for, for any call."""
    return "fa2"


def is_fa3_backend_supported(
    pos_encoding_mode: int,
    use_fp16_qk_reductions: bool,
    use_custom_mask: bool,
    dtype_q: torch.dtype,
    dtype_kv: torch.dtype,
) -> bool:
    """False: `backend="fa3"` is refused."""
    return False


def is_fa3_prefill_head_dim_supported(head_dim_qk: int, head_dim_vo: int) -> bool:
    """False: `backend="fa3"` is refused."""
    return False


def is_cutlass_backend_supported(
    pos_encoding_mode: int,
    use_fp16_qk_reductions: bool,
    use_custom_mask: bool,
    dtype_q: torch.dtype,
    dtype_kv: torch.dtype,
) -> bool:
    """False: `backend="cutlass"` is refused."""
    return False
