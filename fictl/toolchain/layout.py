"""Reads a toolkit's layout: NVIDIA's installer, distributions, conda and PyPI differ."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import SetupError
from fictl.paths import matching
from fictl.process import ask
from fictl.toolchain.hostcxx import find_cxx

_SYSTEM_INCLUDE = Path("/usr/include")


@dataclass(frozen=True)
class Layout:
    """Paths of a toolkit. nvcc: the real one behind a wrapper script. parts: required files."""

    home: Path
    nvcc: Path
    include_dirs: tuple[Path, ...]
    library_dirs: tuple[Path, ...]
    parts: tuple[Path, ...]


def read_layout(path: Path) -> Layout:
    """Return the layout around the nvcc at `path`; a SetupError names missing files."""
    profile = _profile(path)
    home = Path(profile.get("TOP", path.parent.parent)).resolve()
    include_dirs = _include_dirs(profile, home)
    cicc = Path(profile.get("CICC_PATH", home / "nvvm" / "bin")) / "cicc"
    return Layout(
        home=home,
        # Symlinks stay, because /usr/local/cuda may point elsewhere later.
        nvcc=Path(profile.get("_HERE_", path.parent)) / "nvcc",
        include_dirs=include_dirs,
        library_dirs=tuple(dict.fromkeys(_library_dirs(profile, home))),
        parts=_parts(path, cicc, (*include_dirs, _SYSTEM_INCLUDE)),
    )


def _profile(path: Path) -> dict[str, str]:
    """Return the variables of nvcc.profile as nvcc resolves them, even behind a wrapper."""
    argv: list[str | Path] = [path, "--dryrun", "-x", "cu", "-c", os.devnull]
    # Without a host compiler nvcc prints nothing, and by default it looks only for gcc.
    with contextlib.suppress(SetupError):
        argv += ["-ccbin", find_cxx().ccbin]
    return dict(re.findall(r"^#\$ (\w+)=(.*?)\s*$", ask(argv).output, re.MULTILINE))


def _include_dirs(profile: dict[str, str], home: Path) -> tuple[Path, ...]:
    flags = shlex.split(f"{profile.get('INCLUDES', '')} {profile.get('SYSTEM_INCLUDES', '')}")
    listed = [Path(flag.removeprefix("-I")) for flag in flags if flag != "-isystem"]
    usual = [home / "include", *matching(home, "targets/*/include")]
    usual += [folder / "cccl" for folder in usual]
    folders = (folder.resolve() for folder in listed or usual if os.path.isdir(folder))
    # An explicit /usr/include would break the order that #include_next of libstdc++ relies on.
    return tuple(dict.fromkeys(folder for folder in folders if folder != _SYSTEM_INCLUDE))


def _library_dirs(profile: dict[str, str], home: Path) -> list[Path]:
    flags = shlex.split(profile.get("LIBRARIES", ""))
    listed = [Path(flag.removeprefix("-L")) for flag in flags if flag.startswith("-L")]
    # PyPI's nvcc names lib64, but its wheels install lib; Debian has neither.
    return [*listed, *library_dirs_of(home), *matching(Path("/usr/lib"), "*-linux-gnu")]


def cudart_name(major: int) -> str:
    """Return the name that a module needs CUDA's shared runtime by: its file's, and its soname."""
    return f"libcudart.so.{major}"


def library_dirs_of(home: Path) -> list[Path]:
    """Return the folders that the libraries of a toolkit can be in."""
    return [home / "lib64", home / "lib", *matching(home, "targets/*/lib")]


def first_file(places: Iterable[Path]) -> Path | None:
    return next((place.resolve() for place in places if os.path.isfile(place)), None)


def _parts(path: Path, cicc: Path, headers: Iterable[Path]) -> tuple[Path, ...]:
    needed = {
        "cicc (on PyPI: nvidia-nvvm)": [cicc],
        "cuda_runtime.h (nvidia-cuda-runtime)": [f / "cuda_runtime.h" for f in headers],
        "crt/host_config.h (nvidia-cuda-crt)": [f / "crt" / "host_config.h" for f in headers],
    }
    parts = {what: first_file(places) for what, places in needed.items()}
    missing = [what for what, place in parts.items() if place is None]
    if missing:
        raise SetupError(f"{path} is incomplete: no {', no '.join(missing)}")
    return tuple(filter(None, parts.values()))
