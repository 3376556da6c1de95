"""Release of the NVIDIA driver, and the newest CUDA whose programs it runs."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path

LIBRARY = "libcuda.so.1"
_KERNEL_MODULE = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True)
class CudaDriver:
    """Versions of a driver; `release` is '' where it is not visible, as in some sandboxes."""

    cuda: tuple[int, int]
    release: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.release, f"(CUDA {self.cuda[0]}.{self.cuda[1]})")))


def read_driver() -> CudaDriver | None:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    version = ctypes.c_int()
    library.cuDriverGetVersion(ctypes.byref(version))
    major, rest = divmod(version.value, 1000)
    return CudaDriver((major, rest // 10), kernel_module())


def kernel_module() -> str:
    """Release of the driver's kernel module; '' where there is none."""
    try:
        text = _KERNEL_MODULE.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    match = re.search(r"Kernel Module.*?\s(\d+\.[\d.]+)", text)
    return match[1] if match else ""
