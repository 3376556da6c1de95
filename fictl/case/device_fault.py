"""Faults not caused by the test itself: a lost GPU context, or memory that ran out.

torch is used only if the test has imported it.
"""

from __future__ import annotations

import re
import sys

# Out-of-memory errors without their own class: torch's host allocator, cudaMalloc, cuBLAS.
_USED_UP = re.compile(
    r"DefaultCPUAllocator: (?:can't allocate|not enough) memory|CUDA(?: error:)? out of memory"
    r"|cudaErrorMemoryAllocation|CUBLAS_STATUS_ALLOC_FAILED"
)


def device_fault() -> Exception | None:
    """Return the GPU's error if a fault has destroyed this process's context; else None."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return None
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        return error
    return None


def is_out_of_memory(error: BaseException | None) -> bool:
    """True if GPU or host memory ran out, also as the cause of another error."""
    if error is None:
        return False
    torch = sys.modules.get("torch")
    of_torch = getattr(torch, "OutOfMemoryError", None) or MemoryError
    if isinstance(error, (MemoryError, of_torch)):
        return True
    is_named = isinstance(error, RuntimeError) and _USED_UP.search(str(error))
    return bool(is_named) or is_out_of_memory(error.__cause__)
