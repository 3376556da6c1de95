"""The build step that runs CuTe DSL: its GPU targets and its command."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from fictl.arch import Arch
from fictl.errors import NotInstalled
from fictl.jit import triton
from fictl.jit.triton.step import targets
from fictl.paths import matching, same_packages

COMPILER = "fictl.jit.cute.compile"
LIBRARY = "cute-dsl"


def command(
    source: Path, archs: Iterable[Arch], output: str, *, line_info: bool
) -> tuple[str, ...]:
    """Return the command that writes `output`, run in the build's folder."""
    words = (f"{arch.number}{'+ptx' if arch.ptx else ''}" for arch in targets(source.name, archs))
    return (
        "env",
        f"CUTE_DSL_LINEINFO={int(line_info)}",
        *(f"{name}={value}" for name, value in same_packages().items()),
        sys.executable,
        "-m",
        COMPILER,
        str(source),
        *words,
        "-o",
        output,
    )


def require(module: str, identity: Mapping[str, str]) -> None:
    if LIBRARY not in identity:
        raise NotInstalled(
            f"{module} has a kernel in CuTe DSL, which is not installed",
            'pip install "fictl[cute-dsl]"; where a build of it is at hand, as in a wheel of '
            "fictl aot build, it is not needed",
        )


@cache
def own_digest() -> str:
    """Return a digest of the files that define the C++ around the cubins."""
    texts = [path.read_bytes() for path in matching(Path(__file__).parent, "*.py")]
    return hashlib.sha256(b"\0".join([*texts, triton.own_digest().encode()])).hexdigest()
