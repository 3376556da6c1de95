"""fictl's errors under FlashInfer's names, for the `except` clauses of engines."""

from __future__ import annotations

from fictl.errors import NotInstalled as LibraryError
from fictl.errors import NotOnDevice as GPUArchitectureError
from fictl.jit import MissingBuild as MissingJITCacheError
from fictl.op import BackendRefused as BackendSupportedError

__all__ = [
    "BackendSupportedError",
    "GPUArchitectureError",
    "LibraryError",
    "MissingJITCacheError",
]
