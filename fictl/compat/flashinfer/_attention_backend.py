"""Modes of attention, and which backend serves a call: "fa3" has the kernels of Hopper, "fa2" others."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from fictl.compat.flashinfer._device import get_compute_capability

if TYPE_CHECKING:
    import torch

_HOPPER = (9, 0)
_FA3_HEAD_DIMS = ((64, 64), (128, 128), (192, 128), (256, 256))  # of keys, and of values
_MOST_OF_EIGHTHS = 128  # dims of heads whose keys are of 8 bits, and their values as long

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
    """Return what `backend="auto"` of prefill's wrappers stands for where requests have many queries."""
    fits = is_fa3_backend_supported(
        pos_encoding_mode, use_fp16_qk_reductions, use_custom_mask, dtype_q, dtype_kv
    )
    qk, vo = head_dim_qk or head_dim_vo, head_dim_vo or head_dim_qk
    if qk is not None and vo is not None:
        fits = fits and is_fa3_prefill_head_dim_supported(qk, vo)
        fits = fits and (dtype_kv.itemsize > 1 or qk == vo <= _MOST_OF_EIGHTHS)
    return "fa3" if fits and get_compute_capability(device) == _HOPPER else "fa2"


def is_fa3_backend_supported(
    pos_encoding_mode: int,
    use_fp16_qk_reductions: bool,
    use_custom_mask: bool,
    dtype_q: torch.dtype,
    dtype_kv: torch.dtype,
) -> bool:
    """Tell whether Hopper's kernels take the call: they do not rotate."""
    return pos_encoding_mode != PosEncodingMode.ROPE_LLAMA.value and dtype_q.itemsize <= 2


def is_fa3_prefill_head_dim_supported(head_dim_qk: int, head_dim_vo: int) -> bool:
    """Tell whether Hopper's kernels take heads of these sizes."""
    return (head_dim_qk, head_dim_vo) in _FA3_HEAD_DIMS


def is_cutlass_backend_supported(
    pos_encoding_mode: int,
    use_fp16_qk_reductions: bool,
    use_custom_mask: bool,
    dtype_q: torch.dtype,
    dtype_kv: torch.dtype,
) -> bool:
    """False: `backend="cutlass"` is refused."""
    return False
