"""Finds CUDA's headers, which need no nvcc: in a toolkit, or in wheels from PyPI."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.paths import matching
from fictl.toolchain.search import find_nvcc

_HOMES = (Path("/usr/local/cuda"), Path("/opt/cuda"))
_SYSTEM = Path("/usr/include")
_VERSION = re.compile(r"#define\s+CUDART_VERSION\s+(\d+)")
GET_HEADERS = "pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl, or set CUDA_HOME to a toolkit"


@dataclass(frozen=True)
class CudaHeaders:
    """The folders for -isystem, and the version of their cuda_runtime.h."""

    include_dirs: tuple[Path, ...]
    version: tuple[int, int]

    @property
    def identity(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


def find_headers() -> CudaHeaders | None:
    """Return headers of the nvcc in use, else of CUDA_HOME, usual folders, or wheels."""
    nvcc = find_nvcc()
    if nvcc is not None:
        return CudaHeaders(nvcc.include_dirs, nvcc.version)
    return next(filter(None, map(_read, _places())), None)


def require_headers() -> CudaHeaders:
    headers = find_headers()
    if headers is None:
        raise SetupError("no CUDA headers: there is no cuda_runtime.h here", GET_HEADERS)
    return headers


def _places() -> Iterator[tuple[Path, ...]]:
    """Yield sets of folders to try, each set in order of search."""
    homes = (*filter(None, [settings.CUDA_HOME.get()]), *_HOMES)
    yield from (_with_cccl(home / "include") for home in homes)
    for root in dict.fromkeys(sys.path):
        nvidia = Path(root or ".") / "nvidia"
        yield from (_with_cccl(f) for f in reversed(matching(nvidia, "cu[0-9]*/include")))
        parts = ("cuda_runtime", "cuda_nvcc", "cuda_cccl")  # CUDA 12: one folder per wheel.
        yield tuple(nvidia / part / "include" for part in parts)
    yield (_SYSTEM,)


def _with_cccl(include: Path) -> tuple[Path, ...]:
    return (include, include / "cccl")


def _read(folders: Iterable[Path]) -> CudaHeaders | None:
    """Return headers in these folders; None unless cuda_runtime.h and crt/ are there."""
    present = tuple(folder.resolve() for folder in folders if os.path.isdir(folder))
    api = _in(present, "cuda_runtime_api.h")
    if not (api and _in(present, "cuda_runtime.h") and _in(present, "crt/host_config.h")):
        return None
    match = _VERSION.search(api.read_text(encoding="utf-8", errors="replace"))
    number = int(match[1]) if match else 0
    # An explicit /usr/include would break the order that #include_next of libstdc++ relies on.
    searched = tuple(folder for folder in present if folder != _SYSTEM)
    return CudaHeaders(searched, (number // 1000, number % 1000 // 10))


def _in(folders: Iterable[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if os.path.isfile(folder / name)), None)
