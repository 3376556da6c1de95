"""Searches for an nvcc: the places, and the result in each."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.paths import matching
from fictl.toolchain.nvcc import Nvcc, inspect

GET_NVCC = 'FICTL_NVCC, CUDA_HOME, or pip install "fictl[toolchain]"'
_ROOTS = (Path("/usr/local"), Path("/opt"))

_found: dict[tuple[object, ...], Nvcc] = {}


@dataclass(frozen=True)
class Candidate:
    """One searched place: a usable nvcc, or the problem with it."""

    origin: str
    path: Path | None
    nvcc: Nvcc | None = None
    problem: str = ""


def candidates() -> tuple[Candidate, ...]:
    """Return all places in order of preference, including those after the one in use."""
    return tuple(_look())


def find_nvcc() -> Nvcc | None:
    """Return the nvcc to use; None if there is none. An unusable FICTL_NVCC is an error."""
    chosen = (settings.NVCC.get(), settings.CUDA_HOME.get(), settings.CONDA_PREFIX.get())
    key = (*chosen, *os.get_exec_path())
    if key not in _found:
        nvcc = _first_usable()
        if nvcc is None:
            return None
        _found[key] = nvcc
    return _found[key]


def require_nvcc() -> Nvcc:
    nvcc = find_nvcc()
    if nvcc is None:
        places = "\n".join(f"    {c.origin}: {c.problem}" for c in candidates())
        raise SetupError(f"no usable nvcc; looked in\n{places}", GET_NVCC)
    return nvcc


def forget() -> None:
    _found.clear()


def _first_usable() -> Nvcc | None:
    for candidate in _look():
        if candidate.nvcc:
            return candidate.nvcc
        if candidate.path and candidate.origin == settings.NVCC.name:
            raise SetupError(
                f"{candidate.origin}={candidate.path} cannot be used: {candidate.problem}",
                "name an nvcc, or unset it and let CUDA_HOME, PATH and the usual places decide",
            )
    return None


def _look() -> Iterator[Candidate]:
    for origin, paths, nothing in _places():
        empty = True
        for path in paths:
            empty = False
            yield _examine(origin, path)
        if empty:
            yield Candidate(origin, None, problem=nothing)


def _examine(origin: str, path: Path) -> Candidate:
    if os.pathsep in str(path):
        return Candidate(origin, path, problem=f"{path} has a {os.pathsep!r}: one path is expected")
    try:
        return Candidate(origin, path, inspect(path))
    except SetupError as error:
        return Candidate(origin, path, problem=error.message)


def _places() -> Iterator[tuple[str, Iterable[Path], str]]:
    """Yield each origin, the nvccs to try there, and the message if there is none."""
    nvcc, home = settings.NVCC.get(), settings.CUDA_HOME.get()
    yield settings.NVCC.name, [nvcc] if nvcc else [], "not set"
    yield settings.CUDA_HOME.name, [home / "bin" / "nvcc"] if home else [], "not set"
    yield "PATH", _present(Path(folder) / "nvcc" for folder in os.get_exec_path()), "no nvcc"
    yield "/usr/local/cuda*, /opt/cuda*", _present(_nvccs(_installed())), "no nvcc"
    yield "conda", _present(_nvccs(_environments())), "no nvcc"
    yield "PyPI packages", _present(_wheels()), "no nvcc (nvidia-cuda-nvcc is not installed)"


def toolkit_homes() -> Iterator[Path]:
    """Yield the folders that toolkits are usually in, whether or not they have an nvcc."""
    yield from filter(None, [settings.CUDA_HOME.get()])
    yield from _installed()
    yield from _environments()


def _environments() -> dict[Path, None]:
    """Return the environments of conda, or alike, that this process is in."""
    return dict.fromkeys(filter(None, (settings.CONDA_PREFIX.get(), Path(sys.prefix))))


def _present(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in paths if os.path.isfile(path))


def _installed() -> Iterator[Path]:
    """Yield `cuda`, the administrator's choice, then those of versions, newest first."""
    for root in _ROOTS:
        homes = sorted(matching(root, "cuda-*"), key=_version_of, reverse=True)
        yield from (root / "cuda", *homes)


def _nvccs(homes: Iterable[Path]) -> Iterator[Path]:
    return (home / "bin" / "nvcc" for home in homes)


def _wheels() -> Iterator[Path]:
    for folder in dict.fromkeys(sys.path):
        compilers = matching(Path(folder or "."), "nvidia/cu[0-9]*/bin/nvcc")
        yield from sorted(compilers, key=lambda nvcc: _version_of(nvcc.parents[1]), reverse=True)


def _version_of(home: Path) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", home.name))
