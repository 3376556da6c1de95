"""CUDA runtimes of tests: that of this machine in another place, and some that no machine has."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from fictl.toolchain import cudart_name, find_cudart

# A CUDA that no machine has: what is found is what a test has put there.
NOBODYS = 99
# A process has one of each name: an empty one must not take the place of the machine's own. Found
# before any test hides it.
_OF_THIS_MACHINE = {major: find_cudart(major) for major in (12, 13)}


def put_cudart(folder: Path, major: int) -> Path:
    """Put this CUDA's runtime into a folder; if the machine has none, one without functions."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(_cudart(major), folder / cudart_name(major)))


@cache
def _cudart(major: int) -> Path:
    return _OF_THIS_MACHINE.get(major) or make_cudart(Path(mkdtemp()), major)


def make_cudart(folder: Path, major: int, text: str = "") -> Path:
    """Compile a runtime with these functions, which have its version as NVIDIA's have; an empty file
    if there is no compiler.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, cxx = folder / cudart_name(major), shutil.which("g++") or shutil.which("c++")
    path.touch()
    if cxx:
        source, versions = folder / f"{path.name}.cpp", folder / f"{path.name}.map"
        source.write_text(text, encoding="utf-8")
        versions.write_text(f"{path.name} {{ global: cuda*; local: *; }};", encoding="utf-8")
        names = (f"-Wl,-soname,{path.name}", f"-Wl,--version-script={versions}")
        words = [cxx, "-shared", "-fPIC", "-nostdlib", *names, source, "-o", path]
        subprocess.run(words, check=True)
        source.unlink()
        versions.unlink()
    return path
