"""Languages of a kernel.py, told by what it imports: Triton or CuTe DSL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fictl.jit import cute, triton
from fictl.user_file import read_text

_CUTE = re.compile(r"^(?:import|from)\s+cutlass\b", re.MULTILINE)


@dataclass(frozen=True)
class KernelLanguage:
    """`library` is its key in a build's identity; the functions are those of its build step."""

    library: str
    title: str
    package: str
    command: Callable[..., tuple[str, ...]]
    own_digest: Callable[[], str]
    require: Callable[[str, Mapping[str, str]], None]


TRITON = KernelLanguage(
    "triton", "Triton", "triton", triton.command, triton.own_digest, triton.require
)
CUTE = KernelLanguage(
    cute.LIBRARY, "CuTe DSL", "cutlass", cute.command, cute.own_digest, cute.require
)


def language_of(path: Path) -> KernelLanguage:
    """Return the language of a kernel.py; Triton where it does not say."""
    try:
        text = read_text(path, errors="replace")
    except OSError:
        return TRITON
    return CUTE if _CUTE.search(text) else TRITON
