"""The formatters' last word on generated files: ruff and clang-format, where they are installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from fictl.scaffold.kinds.wrap import WIDTH
from fictl.user_file import read_text

# For a project without a .clang-format; the house's style.
_STYLE = (
    f"{{BasedOnStyle: Google, ColumnLimit: {WIDTH}, DerivePointerAlignment: false, "
    "PointerAlignment: Left, IncludeBlocks: Preserve}"
)
_CPP = (".cu", ".cuh", ".cpp", ".h")


def polish(texts: Mapping[Path, str]) -> dict[Path, str]:
    """Format texts by the settings that apply where the files will be; a text that
    a formatter cannot read, or has none for, stays as it is.
    """
    with TemporaryDirectory() as folder:
        copies = {path: _copy(Path(folder), n, path) for n, path in enumerate(texts)}
        for path, copy in copies.items():
            copy.write_text(texts[path], encoding="utf-8")
        # Why one process each: starting them is what takes the time.
        running = [
            subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for argv in _formatters(copies)
        ]
        for process in running:
            process.wait()
        return {path: read_text(copy) for path, copy in copies.items()}


def _copy(folder: Path, number: int, path: Path) -> Path:
    """Copy a file under its own name, which formatters look at."""
    place = folder / str(number)
    place.mkdir()
    return place / path.name


def _formatters(copies: Mapping[Path, Path]) -> Iterator[list[str]]:
    python = [path for path in copies if path.suffix == ".py"]
    cpp = [path for path in copies if path.suffix in _CPP]
    if python and (ruff := _find("ruff")):
        settings = _ruff_settings(python[0])
        chosen = (
            ["--config", str(settings)] if settings else ["--isolated", f"--line-length={WIDTH}"]
        )
        yield [ruff, "format", "--no-cache", *chosen, *(str(copies[path]) for path in python)]
    if cpp and (clang_format := _find("clang-format")):
        own = next(
            (f / ".clang-format" for f in cpp[0].parents if _is_file(f, ".clang-format")), None
        )
        style = f"--style=file:{own}" if own else f"--style={_STYLE}"
        yield [clang_format, "-i", style, *(str(copies[path]) for path in cpp)]


def _ruff_settings(path: Path) -> Path | None:
    """The file that ruff takes them from, as it looks for it."""
    for folder in path.parents:
        for name in (".ruff.toml", "ruff.toml"):
            if _is_file(folder, name):
                return folder / name
        table = folder / "pyproject.toml"
        if os.path.isfile(table) and "[tool.ruff" in read_text(table, errors="replace"):
            return table
    return None


def _is_file(folder: Path, name: str) -> bool:
    return os.path.isfile(folder / name)


def _find(name: str) -> str | None:
    """Beside this Python, where an environment that is not activated has it, or on the PATH."""
    package = find_spec(name.replace("-", "_"))
    for place in (package and package.submodule_search_locations) or ():
        # Why: what pip puts on the PATH is a Python program that starts this one.
        program = Path(place) / "data" / "bin" / name
        if os.path.isfile(program):
            return str(program)
    beside = Path(sys.executable).parent / name
    return str(beside) if os.path.isfile(beside) else which(name)
