"""The kernels that plan() chooses from, and the words of `backend=` that ask for them."""

from __future__ import annotations

import torch

from fictl.op import PlannedBackends

from ._config import EIGHTHS, FP4
from ._sm90_tiles import of_heads
from ._tiles import MOST_HEADS_ON_CUDA_CORES

AUTO = "auto"


def _fits_cuda_cores(group: int, q_len: int, misfit: str) -> bool | str:
    if q_len > 1:
        return f"{q_len} queries a request"
    if misfit:
        return misfit
    return group <= MOST_HEADS_ON_CUDA_CORES or f"{group} heads to one of the keys"


# Words of FlashInfer: "fa2" is its generation of mma.sync, "fa3" that of Hopper. Decoding has one
# kernel on tensor cores for both: wgmma takes 64 rows, of which it fills 16 or fewer, and memory is
# what it waits for. Tall tiles of decoding are prefill's, and so is their choice.
#
# Tensor cores come first even where 15 of 16 rows are empty: an H200 takes 125 us for 16 requests
# of 2048 keys of 32 heads, and 142 us on CUDA cores. Those are for who asks for them.
DECODE = PlannedBackends(
    {"tensor_cores": "", "cuda_cores": ""},
    facts=("group", "q_len", "misfit"),
    checks={"cuda_cores": _fits_cuda_cores},
    names={"fa2": ("cuda_cores", "tensor_cores"), "fa3": ("tensor_cores",)},
    why={
        "auto": "faster for any number of heads",
        "fa3": "backend='fa3': up to 16 rows are mma.sync's on Hopper, too",
        "tensor_cores": "use_tensor_cores=True",
    },
)

# Rows of a request of which two warpgroups of 64 would leave one idle.
FEW_ROWS = 64


def _fits_sm90(
    head_dim: int,
    head_dim_v: int,
    group: int,
    positions: str,
    kv: torch.dtype,
    few_rows: bool,
) -> bool | str:
    """Tell what the kernels of Hopper do not do, or not as fast as others."""
    tiles = of_heads(head_dim, head_dim_v)
    if not tiles:
        return f"heads of {head_dim}, and of {head_dim_v} for values"
    tallest = max(tile.rows for tile in tiles)
    if group > tallest:
        return f"{group} heads to one of the keys, {tallest} at most"
    if positions == "ROPE_LLAMA":
        return "rotation as keys are loaded"
    if kv is FP4:
        return "keys of 4 bits"
    if kv in EIGHTHS and (head_dim != head_dim_v or head_dim > 128):
        return f"keys of {_plain(kv)} of heads of {head_dim}, and of {head_dim_v} for values"
    return not few_rows or f"{FEW_ROWS} rows or fewer a request"


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


# sm90: wgmma and bulk copies; sm80: mma.sync.
PREFILL = PlannedBackends(
    {"sm90": "9.0a", "sm80": ""},
    facts=("head_dim", "head_dim_v", "group", "positions", "kv", "few_rows"),
    checks={"sm90": _fits_sm90},
    names={"fa2": ("sm80",), "fa3": ("sm90",)},
)


def check_backend(op: str, backend: str, known: PlannedBackends) -> None:
    """Refuse the backends of FlashInfer that are other libraries."""
    if backend not in known.words:
        raise NotImplementedError(
            f"{op}: argument 'backend' is {backend!r}, which is another library's; there are "
            f"{', '.join(map(repr, known.words))}, all of them fictl's own kernels"
        )
