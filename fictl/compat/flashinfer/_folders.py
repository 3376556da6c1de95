"""Folders that module generators read and write, from the settings of this process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    CUTLASS_INCLUDE_DIRS: list[Path]
    FLASHINFER_CACHE_DIR: Path
    FLASHINFER_CUBIN_DIR: Path
    FLASHINFER_GEN_SRC_DIR: Path
    FLASHINFER_INCLUDE_DIR: Path
    FLASHINFER_JIT_DIR: Path
    FLASHINFER_WORKSPACE_DIR: Path

__all__ = [
    "CUTLASS_INCLUDE_DIRS",
    "FLASHINFER_CACHE_DIR",
    "FLASHINFER_CUBIN_DIR",
    "FLASHINFER_GEN_SRC_DIR",
    "FLASHINFER_INCLUDE_DIR",
    "FLASHINFER_JIT_DIR",
    "FLASHINFER_WORKSPACE_DIR",
]


def _cutlass() -> list[Path]:
    from fictl.errors import SetupError
    from fictl.toolchain import cutlass_include

    try:
        return [cutlass_include()]
    except SetupError:  # They are not installed.
        return []


def __getattr__(name: str) -> Path | list[Path]:
    from fictl.jit.store.stores import LAYOUT
    from fictl.paths import artifacts_dir, cache_root
    from fictl.project import Project

    if name in ("FLASHINFER_CACHE_DIR", "FLASHINFER_WORKSPACE_DIR"):
        return cache_root()
    if name == "FLASHINFER_CUBIN_DIR":
        return artifacts_dir()
    if name == "FLASHINFER_JIT_DIR":
        return cache_root() / LAYOUT
    if name == "FLASHINFER_GEN_SRC_DIR":
        return cache_root() / "generated"
    if name == "FLASHINFER_INCLUDE_DIR":
        return Project.shipped().include
    if name == "CUTLASS_INCLUDE_DIRS":
        return _cutlass()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
