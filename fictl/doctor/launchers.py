"""Checks of ccache and sccache before a compiler: installed, and compatible with this nvcc."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fictl import settings
from fictl.doctor.finding import DoctorFinding, error, ok, warning
from fictl.errors import SetupError
from fictl.process import run

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_SECONDS = 10.0
_KNOWN = ("ccache", "sccache")

# mozilla/sccache#2722: it mistakes a word of `nvcc --dryrun` of CUDA 13.3 for the input file.
_SCCACHE_LAST_BAD, _NVCC_FIRST_BAD = (0, 17), (13, 3)
# ccache/ccache#560: older versions do not know .cu files and cache nothing.
_CCACHE_FIRST_CUDA = (4, 0)


def launchers(facts: Facts) -> Iterator[DoctorFinding]:
    for setting in (settings.NVCC_LAUNCHER, settings.CXX_LAUNCHER):
        words = setting.get()
        if words:
            yield from _launcher(setting.name, words[0], facts, setting is settings.NVCC_LAUNCHER)
    if facts.nvcc and facts.nvcc.path.resolve().name in _KNOWN:
        yield from _launcher("nvcc's wrapper", str(facts.nvcc.path.resolve()), facts, True)
    for program in _before(facts):
        yield from _launcher("CXX", program, facts, False)


def _launcher(origin: str, program: str, facts: Facts, for_nvcc: bool) -> Iterator[DoctorFinding]:
    name = f"launcher ({origin})"
    path = shutil.which(program)
    if path is None:
        yield error(
            name, f"{program} is not on PATH: every build fails", f"install it, or unset {origin}"
        )
        return
    kind = Path(program).name
    version = _version(path) if kind in _KNOWN else ()
    seen = " ".join(filter(None, (".".join(map(str, version)), path)))
    trouble = _trouble(kind, version, facts) if for_nvcc else ""
    if trouble:
        yield warning(name, f"{kind} {seen}: {trouble}", f"a newer {kind}, or unset {origin}")
    else:
        yield ok(name, f"{kind} {seen}")


def _trouble(kind: str, version: tuple[int, ...], facts: Facts) -> str:
    """Known problem of this launcher with this nvcc, or ''."""
    if not version:
        return ""
    nvcc = facts.nvcc
    if (
        kind == "sccache"
        and version[:2] <= _SCCACHE_LAST_BAD
        and nvcc
        and nvcc.version >= _NVCC_FIRST_BAD
    ):
        return f"it misreads nvcc {nvcc.release} and loses device code ('Could not open *.cubin')"
    if kind == "ccache" and version[:2] < _CCACHE_FIRST_CUDA:
        return "before 4.0 it caches nothing of nvcc's"
    return ""


def _version(path: str) -> tuple[int, ...]:
    try:
        output = run([path, "--version"], timeout=_SECONDS).output
    except SetupError:
        return ()
    match = re.search(r"\b(\d+(?:\.\d+)+)", output)
    return tuple(map(int, match[1].split("."))) if match else ()


def _before(facts: Facts) -> tuple[str, ...]:
    """Programs before the compiler, as ccache in CXX='ccache g++'."""
    if facts.cxx is None:
        return ()
    return tuple(word for word in facts.cxx.argv if Path(word).name in _KNOWN)
