"""NVIDIA's other programs: on PATH, beside the nvcc in use, or in PyPI packages."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from fictl.toolchain.search import find_nvcc


def find_tool(name: str) -> Path | None:
    """cuobjdump, nvdisasm, compute-sanitizer, …"""
    on_path = shutil.which(name)
    if on_path:
        return Path(on_path)
    nvcc = find_nvcc()
    homes = [nvcc.home] if nvcc else []
    wheels = (found for folder in sys.path for found in Path(folder or ".").glob("nvidia/cu[0-9]*"))
    places = (home / "bin" / name for home in (*homes, *sorted(wheels, reverse=True)))
    return next((path for path in places if path.is_file() and os.access(path, os.X_OK)), None)
