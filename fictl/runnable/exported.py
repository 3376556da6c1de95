"""Functions that a library exports with TVM-FFI, for errors about a missing one."""

from __future__ import annotations

import re
from pathlib import Path

from fictl.process import ask
from fictl.toolchain import find_tool

_PREFIX = "__tvm_ffi_"
_TOOLS = ("nm", "llvm-nm")


def exported_functions(binary: Path) -> list[str]:
    """Names of the exported functions; empty if no tool can list them."""
    tool = next(filter(None, map(find_tool, _TOOLS)), None)
    if tool is None:
        return []
    listed = ask([tool, "-D", "--defined-only", binary]).output
    return sorted(re.findall(rf" {_PREFIX}(?!_)(\w+)$", listed, re.MULTILINE))
