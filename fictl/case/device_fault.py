"""What a test can meet that is not its own failure: a GPU whose context is gone, memory that is used up.

torch is asked only where a test has imported it.
"""

from __future__ import annotations

import re
import sys

# What has no class of its own: torch's allocator of host memory, cudaMalloc and cuBLAS.
_USED_UP = re.compile(
    r"DefaultCPUAllocator: (?:can't allocate|not enough) memory|CUDA(?: error:)? out of memory"
    r"|cudaErrorMemoryAllocation|CUBLAS_STATUS_ALLOC_FAILED"
)


def device_fault() -> Exception | None:
    """What the GPU answers once a fault has taken this process's context; else None."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        return error
    return None


def is_out_of_memory(error: BaseException | None) -> bool:
    """Of the GPU or of the host; also where another error was raised from it."""
    if error is None:
        return False
    torch = sys.modules.get("torch")
    of_torch = getattr(torch, "OutOfMemoryError", None) or MemoryError
    if isinstance(error, (MemoryError, of_torch)):
        return True
    said = isinstance(error, RuntimeError) and _USED_UP.search(str(error))
    return bool(said) or is_out_of_memory(error.__cause__)
