"""Finds NVIDIA's other programs: on PATH, beside the nvcc in use, or in PyPI packages."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from fictl.paths import matching
from fictl.toolchain.search import find_nvcc

_TRITON = "triton/backends/nvidia"


def find_tool(name: str) -> Path | None:
    """Find a tool such as cuobjdump, nvdisasm or compute-sanitizer; None if absent."""
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path)
    nvcc = find_nvcc()
    homes = [nvcc.home] if nvcc else []
    # Triton's package contains some tools, of its own release: use them last.
    wheels = (*sorted(_packaged("nvidia/cu[0-9]*"), reverse=True), *_packaged(_TRITON))
    places = (home / "bin" / name for home in (*homes, *wheels))
    return next(
        (path for path in places if os.path.isfile(path) and os.access(path, os.X_OK)), None
    )


def _packaged(pattern: str) -> Iterator[Path]:
    """Yield matching folders of installed packages, without importing them."""
    return (path for folder in sys.path for path in matching(Path(folder or "."), pattern))
