"""What a test can meet that is not its own failure: a GPU whose context is gone, memory that is used up.

torch is asked only where a test has imported it.
"""

from __future__ import annotations

import sys


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
    """Of the GPU or of the host; torch's own allocator of host memory has no class for it."""
    torch = sys.modules.get("torch")
    classes = (MemoryError, torch.OutOfMemoryError) if torch else (MemoryError,)
    return isinstance(error, classes) or "DefaultCPUAllocator: can't allocate" in str(error)
