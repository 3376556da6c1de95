"""The shared CUDA runtime, which modules need when they are linked and when they are loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.toolchain.layout import cudart_name, first_file, library_dirs_of
from fictl.toolchain.nvcc import Nvcc
from fictl.toolchain.search import find_nvcc, toolkit_homes


def find_cudart(major: int) -> Path | None:
    """Return the runtime of this CUDA on this machine, torch's before others; None if there is none."""
    return first_file(folder / cudart_name(major) for folder in _folders(major))


def cudart_to_link(nvcc: Nvcc) -> Path:
    """Return the runtime that modules of this nvcc are linked to: its own, else one of its CUDA."""
    library = nvcc.cudart or find_cudart(nvcc.cudart_major)
    if library is None:
        name, static = cudart_name(nvcc.cudart_major), "libcudart_static.a"
        has_static = any(os.path.isfile(folder / static) for folder in nvcc.library_dirs)
        raise SetupError(
            f"the CUDA toolkit in {nvcc.home} has no {name}"
            f"{f', only {static}' * has_static}, and modules are linked to it",
            get_cudart(nvcc.cudart_major),
        )
    return library


def get_cudart(major: int) -> str:
    """Return the words for a hint that say how to get the runtime of this CUDA."""
    package = (
        f'"nvidia-cuda-runtime=={major}.*"' if major >= 13 else f"nvidia-cuda-runtime-cu{major}"
    )
    return f"pip install {package}, or set {settings.CUDA_HOME.name} to a toolkit of CUDA {major}"


def _folders(major: int) -> Iterator[Path]:
    """Yield the folders to look in. What torch would load comes first: it may be imported later."""
    for root in map(Path, dict.fromkeys(sys.path)):
        # Those of CUDA 13, those of CUDA 12, and what torch has in its own wheel.
        for part in (f"nvidia/cu{major}", "nvidia/cuda_runtime", "torch"):
            yield root / part / "lib"
    with suppress(SetupError):  # One that cannot be used is an error where something is compiled.
        if (nvcc := find_nvcc()) and nvcc.cudart_major == major:
            yield from nvcc.library_dirs
    for home in toolkit_homes():  # Images that only run programs have the library and no nvcc.
        yield from library_dirs_of(home)
    yield from map(Path, filter(None, settings.LD_LIBRARY_PATH.get().split(os.pathsep)))
    yield from (Path(f"/usr/lib/{os.uname().machine}-linux-gnu"), Path("/usr/lib64"))
