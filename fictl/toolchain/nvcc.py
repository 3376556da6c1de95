"""An nvcc: its program, version and build, and the folders of its headers and libraries."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.errors import SetupError
from fictl.process import ask
from fictl.toolchain import memo
from fictl.toolchain.layout import cudart_name, first_file, read_layout

_FLOOR = (12, 0)


@dataclass(frozen=True)
class Nvcc:
    """A complete CUDA compiler. path: the program to run. home: the real toolkit's root."""

    path: Path
    home: Path
    version: tuple[int, int]
    build: str
    include_dirs: tuple[Path, ...]
    library_dirs: tuple[Path, ...] = ()

    @property
    def release(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"

    @property
    def cudart_major(self) -> int:
        return self.version[0]

    @property
    def cudart(self) -> Path | None:
        """The toolkit's shared CUDA runtime; None if it has only the static one, or none."""
        name = cudart_name(self.cudart_major)
        return first_file(folder / name for folder in self.library_dirs)

    @property
    def identity(self) -> str:
        """Version and build id; no path, so that two installations of one release agree."""
        return f"{self.release} {self.build}"


def inspect(path: Path) -> Nvcc:
    """Return the nvcc at `path`; a SetupError says why it is not usable."""
    path = _executable(path)
    nvcc = _revive(path, memo.recall((str(path),)).get("nvcc", {})) or _ask(path)
    if nvcc.version < _FLOOR:
        floor = ".".join(map(str, _FLOOR))
        raise SetupError(f"{path} is nvcc {nvcc.release}: CUDA {floor} or newer is needed")
    return nvcc


def _executable(path: Path) -> Path:
    if not os.path.isfile(path):
        raise SetupError(f"{path} is not there")
    if not os.access(path, os.X_OK):
        folders = f"{path.parent}/* {path.parent.parent}/nvvm/bin/*"
        raise SetupError(f"{path} is not executable (chmod +x {folders})")
    # nvcc looks for nvcc.profile beside the path it is called by: resolve a lone symlink.
    real = path.resolve() if path.is_symlink() else path
    return (real if os.path.isfile(real.parent / "nvcc.profile") else path).absolute()


def _revive(path: Path, facts: dict[str, Any]) -> Nvcc | None:
    """Return the stored answer; None if it is outdated or of another fictl version."""
    try:
        same = memo.stamp([facts["behind"]]) == facts["behind_stamp"]
        return _nvcc(path, facts) if same and all(map(os.path.exists, facts["parts"])) else None
    except (KeyError, TypeError, ValueError):
        return None


def _nvcc(path: Path, facts: dict[str, Any]) -> Nvcc:
    major, minor = facts["version"]
    return Nvcc(
        path=path,
        home=Path(facts["home"]),
        version=(major, minor),
        build=facts["build"],
        include_dirs=tuple(map(Path, facts["include_dirs"])),
        library_dirs=tuple(map(Path, facts["library_dirs"])),
    )


def _ask(path: Path) -> Nvcc:
    answer = ask([path, "--version"]).output.strip()
    release = re.search(r"release (\d+)\.(\d+)", answer)
    if not release:
        first = answer.partition("\n")[0]
        raise SetupError(f"{path} is not an nvcc: --version says {first!r}")
    build = re.search(r"^Build (\S+)", answer, re.MULTILINE)
    layout = read_layout(path)
    facts = {
        "version": [int(release[1]), int(release[2])],
        "build": build[1] if build else "",
        "home": str(layout.home),
        "include_dirs": list(map(str, layout.include_dirs)),
        "library_dirs": list(map(str, layout.library_dirs)),
        "behind": str(layout.nvcc),
        "behind_stamp": memo.stamp([str(layout.nvcc)]),
        "parts": list(map(str, layout.parts)),
    }
    memo.remember((str(path),), nvcc=facts)
    return _nvcc(path, facts)
