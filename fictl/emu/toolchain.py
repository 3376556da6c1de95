"""Toolchain of the emulated device: the host's C++ compiler with CUDA's headers."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.paths import files_below
from fictl.toolchain import CudaHeaders, HostCompiler, find_cxx, find_headers, require_headers

ROOT = Path(__file__).resolve().parent
HEADERS = ROOT / "include"
RUNTIME = ROOT / "runtime"
COMPILER = ROOT / "compile.py"
PRELUDE = "fictl_emu/prelude.h"
NAMES = "fictl_emu/api_names.h"

# Flags per compiler family, for code that nvcc accepts and a host compiler rejects.
_OF_FAMILY = {
    "gcc": ("-fpermissive", "-fno-gnu-unique"),
    "clang": ("-fno-delayed-template-parsing",),
}
_CHECKED_OF_FAMILY = {
    "gcc": (
        "--param",
        "tsan-distinguish-volatile=1",
        "--param",
        "tsan-instrument-func-entry-exit=0",
        # GCC does not instrument class arguments and results of calls (__half): inline them.
        "-finline-small-functions",
        "--param",
        "max-inline-insns-single=400",
    ),
    "clang": (
        "-mllvm",
        "-tsan-distinguish-volatile=1",
        "-mllvm",
        "-tsan-instrument-func-entry-exit=0",
    ),
}


@dataclass(frozen=True)
class EmuToolchain:
    """The compiler and the headers of emulated modules."""

    cxx: HostCompiler
    headers: CudaHeaders

    def identity(self) -> dict[str, str]:
        """Return what builds depend on: versions and the emulator's content, never paths."""
        return {
            "cxx": self.cxx.identity,
            "CUDA headers": self.headers.identity,
            "emulator": emulator_digest(),
        }

    def kernel_command(self, flags: Iterable[str], checked: bool) -> tuple[str, ...]:
        """Return the command that compiles a unit with kernels, up to its include folders."""
        family = self.cxx.family
        of_family = _OF_FAMILY[family] + (_CHECKED_OF_FAMILY[family] if checked else ())
        return (
            sys.executable,
            str(COMPILER),
            *self.cxx.argv,
            *flags,
            *of_family,
            "-include",
            PRELUDE,
            f"-I{HEADERS}",
        )


def current_toolchain() -> EmuToolchain | None:
    """Return the toolchain; None if the compiler or the headers are missing."""
    headers = find_headers()
    try:
        return EmuToolchain(find_cxx(), headers) if headers else None
    except SetupError:
        # A broken compiler that the user named is an error, never ignored.
        if settings.CXX.get():
            raise
        return None


def require_toolchain() -> EmuToolchain:
    return EmuToolchain(find_cxx(), require_headers())


@cache
def emulator_digest() -> str:
    """Hash all files that affect a module's code; not the runtime, which modules link to."""
    files = sorted(
        [
            Path(__file__),
            COMPILER,
            *(path for path in files_below(ROOT / "rewrite") if path.suffix == ".py"),
            *files_below(HEADERS),
        ]
    )
    parts = (f"{path.relative_to(ROOT)} {_sha256(path)}" for path in files)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
