"""Blocks that a rank may launch of a waiting kernel: those of all ranks are resident at once.

Grids follow from this number, so that all ranks have the same: the least that any of their GPUs
holds, less where ranks share one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import torch

# Mirrors kMostBlocks of kernels/include/fictl/comm/peers.cuh.
MOST_BLOCKS = 256


def gpu_of(device: torch.device) -> dict[str, Any]:
    """Return what peers have to know of a rank's GPU; nothing where it is emulated."""
    if device.type != "cuda":
        return {"uuid": "", "multiprocessors": MOST_BLOCKS, "capability": ""}
    gpu = torch.cuda.get_device_properties(device)
    return {
        "uuid": str(gpu.uuid),
        # Under MPS these are the ones that the process may use, which ranks may differ in.
        "multiprocessors": int(gpu.multi_processor_count),
        "capability": f"{gpu.major}.{gpu.minor}",
    }


def ranks_of_a_gpu(gpus: Iterable[Mapping[str, Any]]) -> int:
    """Count the ranks of the GPU that has most of them."""
    return max(Counter(gpu["uuid"] for gpu in gpus if gpu["uuid"]).values(), default=1)


def blocks_of_each(gpus: Iterable[Mapping[str, Any]]) -> int:
    """Return how many blocks each rank may launch, one for each SM that it has for itself."""
    every = list(gpus)
    fewest: int = min(gpu["multiprocessors"] for gpu in every)
    return max(fewest // ranks_of_a_gpu(every), 1)
