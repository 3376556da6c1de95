"""The CUDA runtime of this process, which every module for GPUs shares with torch.

A module names it, as in libcudart.so.13. torch has loaded it if torch is of the same CUDA; if it is of
another, two runtimes are in the process, each with its own symbol versions.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

from fictl.errors import SetupError
from fictl.toolchain import cudart_name, find_cudart, get_cudart

_MISSING = re.compile(r"undefined symbol: (\w+), version (libcudart\.so\.(\d+))")


def bring(major: int, module: Path) -> None:
    """Load the runtime of this CUDA, unless it is in the process, or the module calls none of it."""
    if _is_loaded(major) or not _needs(module, major):
        return
    library = find_cudart(major)
    if library is None:
        raise SetupError(f"modules of CUDA {major} do not load: {absent(major)}", get_cudart(major))
    try:
        ctypes.CDLL(str(library))
    except OSError as error:
        raise SetupError(
            f"cannot load {library}, which modules of CUDA {major} need: {error}", get_cudart(major)
        ) from error


def is_here(major: int) -> bool:
    """True if the runtime of this CUDA is in the process, or can be loaded."""
    return _is_loaded(major) or find_cudart(major) is not None


def absent(major: int) -> str:
    return (
        f"{cudart_name(major)}, CUDA's runtime, is neither loaded with torch nor in a package, a toolkit "
        "or a folder of the system"
    )


def lacking(major: int, module: Path) -> str:
    """Say why a module of this CUDA cannot run here, and what to do; '' if it can."""
    if is_here(major) or not _needs(module, major):
        return ""
    return f"{absent(major)}: {get_cudart(major)}"


def too_old(problem: str) -> str:
    """Return a hint if a module did not load because the process has an older runtime, else ''."""
    missing = _MISSING.search(problem)
    if missing is None:
        return ""
    return (
        f"{missing[2]} of this process is older than the nvcc that built it, and has no {missing[1]}: "
        f"build it with an nvcc of torch's CUDA (FICTL_NVCC), or a newer runtime: {get_cudart(int(missing[3]))}"
    )


def _needs(module: Path, major: int) -> bool:
    """True if a module names the runtime. A search in its bytes is far faster than reading its tables."""
    try:
        return f"\0{cudart_name(major)}\0".encode() in module.read_bytes()
    except OSError:
        return True  # Not here yet, or unreadable: loading will tell.


def _is_loaded(major: int) -> bool:
    try:
        ctypes.CDLL(cudart_name(major), mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True
