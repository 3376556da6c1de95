"""Checks of nvcc, the host compiler, and whether the two work together."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.doctor.finding import DoctorFinding, error, ok
from fictl.doctor.wheels import of_missing_compiler
from fictl.errors import FictlError
from fictl.toolchain import (
    Candidate,
    HostCompiler,
    Nvcc,
    candidates,
    cudart_name,
    find_cudart,
    find_cxx,
    require_nvcc,
)

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_OLDEST_GCC = 9
_GET_TOOLKIT = 'pip install "fictl[toolchain]"'

# Lines of crt/host_config.h: '#if __GNUC__ > 15', '(__clang_major__ >= 21)'.
_GCC_ABOVE = re.compile(r"#if\s+__GNUC__\s*>\s*(\d+)")
_CLANG_FROM = re.compile(r"__clang_major__\s*>=\s*(\d+)")


def nvcc(facts: Facts) -> Iterator[DoctorFinding]:
    lines = [_place(place, facts.nvcc) for place in candidates()]
    if facts.nvcc is None:
        yield _no_nvcc(lines)
        return
    yield ok("nvcc", f"{facts.nvcc.release}, {facts.nvcc.path}{_behind(facts.nvcc)}", *lines)


def toolkit(facts: Facts) -> Iterator[DoctorFinding]:
    """Check for the parts of the toolkit, beside nvcc, that every build needs."""
    if facts.nvcc is None:
        return
    name, home = "CUDA toolkit", facts.nvcc.home
    wanted = {
        "cuda_fp16.h (nvidia-cuda-runtime)": "cuda_fp16.h",
        "CCCL (nvidia-cuda-cccl)": "nv/target",
    }
    lacks = [
        what
        for what, header in wanted.items()
        if not any(os.path.isfile(folder / header) for folder in facts.nvcc.include_dirs)
    ]
    cudart = facts.nvcc.cudart or find_cudart(facts.nvcc.cudart_major)
    if cudart is None:
        lacks.append(f"{cudart_name(facts.nvcc.cudart_major)} (nvidia-cuda-runtime)")
    if lacks:
        fix = f"install the whole toolkit of {facts.nvcc.release}, or the PyPI packages: {_GET_TOOLKIT}"
        yield error(name, f"{home} lacks {', '.join(lacks)}", fix)
    else:
        folders = (f"headers: {folder}" for folder in facts.nvcc.include_dirs)
        yield ok(name, str(home), *folders, f"library: {cudart}")


def host_compiler(facts: Facts) -> Iterator[DoctorFinding]:
    name = "C++ compiler"
    try:
        cxx = find_cxx()
    except FictlError as problem:
        yield of_missing_compiler()(name, problem.message, problem.hint)
        return
    seen = f"{cxx.family} {'.'.join(map(str, cxx.version))}, {cxx.ccbin}"
    newest = newest_supported(facts.nvcc, cxx.family) if facts.nvcc else None
    if facts.nvcc is None or newest is None or cxx.version[0] <= newest:
        limit = f" (nvcc takes up to {newest})" if newest else ""
        yield ok(name, seen + limit, cxx.identity)
    else:
        text = f"{seen}: nvcc {facts.nvcc.release} takes {cxx.family} up to {newest}"
        yield error(name, text, _older_compiler(cxx, newest))


def newest_supported(nvcc: Nvcc, family: str) -> int | None:
    """Newest major version of a compiler that the toolkit's own header accepts, if it says so."""
    for folder in nvcc.include_dirs:
        header = folder / "crt" / "host_config.h"
        if os.path.isfile(header):
            text = header.read_text(encoding="utf-8", errors="replace")
            if family == "gcc":
                limits = [int(number) for number in _GCC_ABOVE.findall(text)]
            else:
                limits = [int(number) - 1 for number in _CLANG_FROM.findall(text)]
            return max(limits, default=None)
    return None


def _no_nvcc(lines: list[str]) -> DoctorFinding:
    try:
        require_nvcc()
        why, hint = "it was found only now", "run `fictl doctor` again"
    except FictlError as problem:
        why, hint = problem.message.partition("; looked in")[0], problem.hint
    return of_missing_compiler()("nvcc", "\n".join((why, *lines)), hint)


def _place(place: Candidate, used: Nvcc | None) -> str:
    if place.nvcc is None:
        return f"{place.origin}: {place.problem}"
    verdict = "used" if used and place.nvcc == used else "usable"
    return (
        f"{place.origin}: {place.path}: CUDA {place.nvcc.release}{_behind(place.nvcc)}, {verdict}"
    )


def _behind(nvcc: Nvcc) -> str:
    """Path of the toolkit, if nvcc itself is not inside it."""
    around = nvcc.path.resolve().is_relative_to(nvcc.home.resolve())
    return "" if around else f" (a wrapper; the toolkit is {nvcc.home})"


def _older_compiler(cxx: HostCompiler, newest: int) -> str:
    stem = "g++" if cxx.family == "gcc" else "clang++"
    names = (f"{stem}-{version}" for version in range(newest, _OLDEST_GCC - 1, -1))
    here = next((name for name in names if shutil.which(name)), None)
    if here:
        return f"CXX={here}"
    package = f"{Path(stem).name}-{newest}" if stem == "g++" else f"clang-{newest}"
    return f"apt install {package}, then CXX={stem}-{newest}; or a newer CUDA: {_GET_TOOLKIT}"
