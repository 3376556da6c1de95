"""Which kernel a plan is for, and how many blocks of it a GPU runs at once."""

from __future__ import annotations

from functools import cache

import torch

# Blocks an SM, by the rows of a tile; heads of 256 take twice the shared memory.
_TENSOR_CORES = {16: 3, 64: 2, 128: 2}
_LARGE_HEADS = {16: 3, 64: 2, 128: 1}
_CUDA_CORES = 3
_EMULATED_SMS = 4

# Heads to one of the keys that kernels on CUDA cores are for.
_CUDA_CORES_UP_TO = 3


def slots(device: torch.device, rows: int, head_dim: int, tensor_cores: bool) -> int:
    blocks = _CUDA_CORES
    if tensor_cores:
        blocks = (_LARGE_HEADS if head_dim > 128 else _TENSOR_CORES)[rows]
    return blocks * _sm_count(device)


@cache
def _sm_count(device: torch.device) -> int:
    if device.type != "cuda":
        return _EMULATED_SMS
    return torch.cuda.get_device_properties(device).multi_processor_count


def rows_of_tiles(queries: int, requests: int, group: int, head_dim: int) -> int:
    """What tensor cores take at once: as little as a usual request of the batch fills."""
    usual = queries * group / max(requests, 1)
    if usual <= 16:
        return 16
    return 64 if usual <= 64 or head_dim > 128 else 128


def by_tensor_cores(
    group: int, asked: bool, backend: str = "auto", q_len: int = 1
) -> tuple[bool, str]:
    """Whether decoding uses them, and why: `group` heads share a head of the keys.

    Even where 15 of 16 rows are nothing: an H200 takes 125 us for 16 requests of 2048 keys of 32
    heads, and 142 on CUDA cores. These are for who asks for them.
    """
    if asked:
        return True, "use_tensor_cores=True"
    if backend != "fa2":
        return True, "faster for any number of heads"
    if q_len > 1:
        return True, f"{q_len} queries a request"
    return group > _CUDA_CORES_UP_TO, f"backend='fa2', {group} heads to one of the keys"


def rows_for_decode(group: int, q_len: int, head_dim: int, tensor_cores: bool) -> int:
    """Of a tile; a kernel on CUDA cores is for one group, which is its tile."""
    return rows_of_tiles(q_len, 1, group, head_dim) if tensor_cores else group
