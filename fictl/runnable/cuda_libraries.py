"""CUDA libraries that a solution needs: from wheels, as torch has them, or from the toolkit."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.paths import matching
from fictl.runnable.error import BuildError, machine_error
from fictl.toolchain import cutlass_include, find_headers, find_nvcc
from fictl.trace import Solution

_SYSTEM = tuple(
    Path(folder)
    for folder in (
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib/wsl/lib",
        "/usr/local/cuda/compat",
    )
)
_HEADER = {"cublas": "cublas_v2.h", "cublasLt": "cublasLt.h", "nvrtc": "nvrtc.h"}
# Libraries that must be loaded first.
_BEFORE = {"cublas": ("cublasLt",), "cusolver": ("cublasLt", "cublas", "cusparse")}
_LINKED = ("cublas", "cublasLt", "cudnn", "curand", "cusparse", "cusolver", "cufft", "nvrtc")
_OF_CCCL = ("cccl", "libcudacxx", "cub", "thrust")
_DRIVER_CALL = re.compile(r"\bcu[A-Z][A-Za-z]+\w*\s*\(")
# The number in these libraries' file names is CUDA's version; cuDNN has its own.
_NUMBERED_ALIKE = frozenset({"cublas", "cublasLt", "nvrtc"})


@dataclass(frozen=True)
class Library:
    """A shared library, and the folder of its headers if the compiler does not search it."""

    name: str
    path: Path
    include: Path | None = None

    def preload(self) -> None:
        """Load the library, so that the solution finds it; one that torch has loaded is reused."""
        with suppress(OSError):
            ctypes.CDLL(self.path.name, mode=ctypes.RTLD_GLOBAL | os.RTLD_NOLOAD)
            return
        ctypes.CDLL(str(self.path), mode=ctypes.RTLD_GLOBAL)


@dataclass(frozen=True)
class Needed:
    """Include paths and libraries for compiling and linking a solution."""

    includes: tuple[Path, ...] = ()
    libraries: tuple[Library, ...] = ()
    driver: Path | None = None

    @property
    def link(self) -> tuple[str, ...]:
        """Files to link: a wheel has libcublas.so.13 only, which -lcublas does not find."""
        paths = [str(library.path) for library in self.libraries]
        paths += [str(self.driver)] if self.driver else []
        return ("-Wl,--no-as-needed", *paths) if paths else ()

    def preload(self) -> None:
        for library in self.libraries:
            library.preload()


def needed(solution: Solution, more: Iterable[str] = (), *, emulated: bool = False) -> Needed:
    """Find the libraries that it links to and declares under `dependencies`.

    BuildError says what to install. Names that are not CUDA's are ignored.
    """
    declared = [re.split(r"[^a-z0-9_]", name.lower())[0] for name in solution.spec.dependencies]
    wanted = {*declared, *(name.lower() for name in more)}
    includes: list[Path] = []
    if "cutlass" in wanted:
        include = _cutlass(solution)
        # CUTLASS's tools lie in a folder beside, which the JIT does not search itself.
        includes += [include, include.parent / "tools" / "util" / "include"]
    if wanted.intersection(_OF_CCCL):
        _require_cccl(solution)
    libraries: list[Library] = []
    for name in (name for name in _LINKED if name.lower() in wanted):
        if emulated:
            raise machine_error(
                f"{solution.name} needs {name}, which runs on GPUs", f"unset {settings.DEVICE.name}"
            )
        linked = _find(name) or _missing(solution, name)
        before = [_find(other) or _missing(solution, other) for other in _BEFORE.get(name, ())]
        libraries += [library for library in (*before, linked) if library not in libraries]
    includes += [library.include for library in libraries if library.include]
    text = (source.content for source in solution.sources)
    calls_driver = not emulated and any(map(_DRIVER_CALL.search, text))
    driver = _driver() if calls_driver else None
    return Needed((*dict.fromkeys(includes),), (*libraries,), driver)


def _find(name: str) -> Library | None:
    header = _HEADER.get(name, f"{name}.h")
    nvcc = find_nvcc()
    searched = nvcc.include_dirs if nvcc else ()
    for include, folder in _places(name):
        file = _file(folder, name)
        if file is None:
            continue
        if any(os.path.isfile(place / header) for place in searched):
            return Library(name, file)
        if include is not None and os.path.isfile(include / header):
            return Library(name, file, include)
    return None


def _places(name: str) -> Iterator[tuple[Path | None, Path]]:
    """Folders of headers and libraries: of wheels, of the toolkit, of the system."""
    nvcc = find_nvcc()
    major = nvcc.cudart_major if nvcc else 13
    for root in dict.fromkeys(sys.path):
        nvidia = Path(root or ".") / "nvidia"
        for part in (f"cu{major}", name.removesuffix("Lt"), f"cuda_{name}"):
            yield nvidia / part / "include", nvidia / part / "lib"
    if nvcc:
        for part in ("lib64", "lib"):
            yield nvcc.home / "include", nvcc.home / part
    yield from ((Path("/usr/include"), folder) for folder in _SYSTEM)


def _file(folder: Path, name: str) -> Path | None:
    nvcc = find_nvcc()
    for file in sorted(matching(folder, f"lib{name}.so*"), key=lambda file: len(file.name)):
        number = file.name.partition(".so.")[2].partition(".")[0]
        if not number:
            continue  # A link-time name, beside the name that is loaded.
        if name in _NUMBERED_ALIKE and nvcc and int(number) != nvcc.cudart_major:
            continue
        return file
    return None


def _missing(solution: Solution, name: str) -> Library:
    nvcc = find_nvcc()
    major = nvcc.cudart_major if nvcc else 13
    wheel = f"nvidia-{name.removesuffix('Lt').lower()}"
    if name == "nvrtc":
        wheel = "nvidia-cuda-nvrtc"
    if name == "cudnn" or major < 13:
        wheel += f"-cu{major}"
    raise machine_error(
        f"{solution.name} needs {name}: there is no lib{name}.so of CUDA {major} with its headers",
        f"pip install {wheel}",
    )


def _cutlass(solution: Solution) -> Path:
    try:
        return cutlass_include()
    except SetupError as error:
        raise BuildError.of(solution.name, error) from error


def _require_cccl(solution: Solution) -> None:
    headers = find_headers()
    folders = [
        place for f in (headers.include_dirs if headers else ()) for place in (f, f / "cccl")
    ]
    if not any(os.path.isdir(folder / "cuda" / "std") for folder in folders):
        raise machine_error(
            f"{solution.name} needs CCCL: there is no cuda/std beside CUDA's headers",
            "pip install nvidia-cuda-cccl",
        )


def _driver() -> Path | None:
    """The driver's libcuda, or the toolkit's stub of it for linking."""
    nvcc = find_nvcc()
    homes = [nvcc.home] if nvcc else []
    stubs = [home / part / "stubs" for home in homes for part in ("lib64", "lib")]
    names = [*(folder / "libcuda.so" for folder in stubs)]
    names += [folder / "libcuda.so.1" for folder in _SYSTEM]
    return next((path for path in names if os.path.isfile(path)), None)
