"""Environment variables of sandboxed processes: all that compilers and GPUs need, and no secret."""

from __future__ import annotations

import os
from pathlib import Path

from fictl import settings
from fictl.paths import cache_root, same_packages

_NAMES = {
    "PATH",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "LANG",
    "TZ",
    "CC",
    "CXX",
    "MAX_JOBS",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "XDG_CACHE_HOME",
    "HOME",
    "PYTHONPATH",
}
_PREFIXES = (
    "LC_",
    "CUDA_",
    "NVIDIA_",
    "NVCC_",
    "FICTL_",
    "FIB_",
    "TRITON_",
    "TORCH_",
    "PYTORCH_",
    "OMP_",
    "MKL_",
    "OPENBLAS_",
    "CUTLASS_",
    "TVM_",
    "TILELANG_",
    "COVERAGE_",
)
_CACHE = "cache"
# What a process compiles for itself lies there, below the folder that it may write to.
CACHES = (_CACHE, ".cache")


def environment(
    folder: Path | None = None, device: str = "", gpu: int | None = None
) -> dict[str, str]:
    """Variables to keep. With a `folder`, home, caches and temporary files are placed below it."""
    kept = {
        name: text
        for name, text in {**os.environ}.items()
        if name in _NAMES or name.startswith(_PREFIXES)
    }
    return kept | (_inside(folder, device, gpu) if folder else {})


def _inside(folder: Path, device: str, gpu: int | None) -> dict[str, str]:
    stores = [*map(str, settings.STORES.get()), str(cache_root())]
    own = {
        **same_packages(),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "XDG_CACHE_HOME": str(folder / _CACHE),
        settings.CACHE_PATH.name: str(folder / _CACHE / "solutions"),
        "FIB_CACHE_PATH": "",
        "TRITON_CACHE_DIR": str(folder / _CACHE / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / _CACHE / "inductor"),
        # A pool of compilers would be processes left running.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCH_EXTENSIONS_DIR": str(folder / _CACHE / "extensions"),
        "CUDA_CACHE_PATH": str(folder / _CACHE / "cuda"),
        "PYTHONDONTWRITEBYTECODE": "1",
        settings.WORKSPACE_BASE.name: str(folder),
        # Earlier builds are read from there, and never written.
        settings.STORES.name: os.pathsep.join(stores),
        settings.DEVICE.name: "emu" if device == "emu" else "cuda",
    }
    return own if gpu is None else {**own, "CUDA_VISIBLE_DEVICES": str(gpu)}
