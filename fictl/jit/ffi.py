"""Places of apache-tvm-ffi's headers and library, and its ABI version; it is not imported."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fictl.errors import SetupError


@dataclass(frozen=True)
class FfiPaths:
    tvm_ffi: Path
    dlpack: Path
    library: Path


@cache
def ffi_paths() -> FfiPaths:
    spec = importlib.util.find_spec("tvm_ffi")
    if spec is None or spec.origin is None:
        raise SetupError(
            "apache-tvm-ffi is not installed", "pip install 'apache-tvm-ffi>=0.1,<0.2'"
        )
    root = Path(spec.origin).parent
    # Why two places for dlpack: only some releases copy it beside their own headers.
    places = (root / "include", root / "3rdparty" / "dlpack" / "include")
    dlpack = next((place for place in places if os.path.isdir(place / "dlpack")), places[0])
    return FfiPaths(root / "include", dlpack, root / "lib" / "libtvm_ffi.so")


def ffi_abi() -> str:
    """Return the part of the version that fixes tvm-ffi's ABI; '' if it is not installed."""
    try:
        return _installed_abi()
    except importlib.metadata.PackageNotFoundError:
        return ""


@cache
def _installed_abi() -> str:
    loaded = sys.modules.get("tvm_ffi")
    version = loaded.__version__ if loaded else importlib.metadata.version("apache-tvm-ffi")
    return ".".join(version.split(".")[:2])
