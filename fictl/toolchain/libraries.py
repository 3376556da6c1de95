"""CUTLASS, CCCL, Triton and CuTe DSL: builds depend on their versions, not on their files' bytes."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from fictl.errors import SetupError

_CCCL_VERSION = re.compile(r"#define\s+CCCL_VERSION\s+(\d+)")
_PYTHON_VERSION = re.compile(r"^__version__ = ['\"](.+?)['\"]", re.MULTILINE)


def library_versions(libraries: Collection[str], include_dirs: Iterable[Path]) -> dict[str, str]:
    """Return the version of each library that a module uses, for the build's identity."""
    versions = {}
    if "cutlass" in libraries:
        versions["cutlass"] = _wheel_version("nvidia-cutlass")
    if "cccl" in libraries:
        versions["cccl"] = _cccl_version(include_dirs)
    # Optional, because a finished build runs without them.
    if "triton" in libraries and (triton := _triton_version()):
        versions["triton"] = triton
    if "cute-dsl" in libraries and (cute := _cute_version()):
        versions["cute-dsl"] = cute
    return versions


def library_includes(libraries: Collection[str]) -> tuple[Path, ...]:
    """Return the include folders of libraries outside of the toolkit."""
    return (cutlass_include(),) if "cutlass" in libraries else ()


def cutlass_include() -> Path:
    """Return the include folder of the nvidia-cutlass wheel."""
    spec = importlib.util.find_spec("cutlass_library")
    if spec is not None and spec.origin is not None:
        include = Path(spec.origin).parent / "source" / "include"
        if os.path.isdir(include / "cutlass"):
            return include
    raise SetupError("the CUTLASS headers are not installed", 'pip install "fictl[toolchain]"')


def _wheel_version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def _cccl_version(include_dirs: Iterable[Path]) -> str:
    for folder in include_dirs:
        for place in (folder, folder / "cccl"):
            header = place / "cuda" / "std" / "__cccl" / "version.h"
            if os.path.isfile(header):
                match = _CCCL_VERSION.search(header.read_text(encoding="utf-8", errors="replace"))
                return match[1] if match else "unknown"
    return "unknown"


def _triton_version() -> str:
    """Read Triton's version from its source, because several wheels contain it."""
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        return ""
    match = _PYTHON_VERSION.search(Path(spec.origin).read_text(encoding="utf-8"))
    return match[1] if match else "unknown"


def _cute_version() -> str:
    version = _wheel_version("nvidia-cutlass-dsl")
    return "" if version == "absent" or importlib.util.find_spec("cutlass") is None else version
