"""The formatters' last word on generated files: ruff and clang-format, where they are installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from fictl.scaffold.wrap import WIDTH

# For a project without a .clang-format; the house's style.
_STYLE = (
    f"{{BasedOnStyle: Google, ColumnLimit: {WIDTH}, DerivePointerAlignment: false, "
    "PointerAlignment: Left, IncludeBlocks: Preserve}"
)
_CPP = (".cu", ".cuh", ".cpp", ".h")


def polish(texts: Mapping[Path, str]) -> dict[Path, str]:
    """Each as its formatter has it, by the settings that count where the file will lie; a text
    that a formatter cannot read, or has none for, stays as it is.
    """
    running = {path: _start(path, text) for path, text in texts.items()}
    return {path: _finished(process, texts[path]) for path, process in running.items()}


def _start(path: Path, text: str) -> subprocess.Popen[bytes] | None:
    argv = _formatter(path)
    if not argv:
        return None
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    # Why all at once: formatters read to the end before they write, and files are small.
    process.stdin.write(text.encode())
    process.stdin.close()
    return process


def _finished(process: subprocess.Popen[bytes] | None, text: str) -> str:
    if process is None:
        return text
    assert process.stdout is not None
    with process, process.stdout:
        output = process.stdout.read().decode("utf-8", "replace")
    return text if process.returncode or not output else output


def _formatter(path: Path) -> list[str]:
    if path.suffix == ".py" and (ruff := _find("ruff")):
        return [ruff, "format", "--quiet", *_ruff_width(path), "--stdin-filename", str(path), "-"]
    if path.suffix in _CPP and (clang_format := _find("clang-format")):
        own = any((folder / ".clang-format").is_file() for folder in path.parents)
        return [clang_format, f"--assume-filename={path}", f"--style={'file' if own else _STYLE}"]
    return []


def _ruff_width(path: Path) -> list[str]:
    """Ours, unless a settings file that ruff will find says another."""
    places = (folder / name for folder in path.parents for name in ("ruff.toml", ".ruff.toml"))
    tables = (folder / "pyproject.toml" for folder in path.parents)
    said = any(each.is_file() for each in places) or any(
        "[tool.ruff" in each.read_text(encoding="utf-8", errors="replace")
        for each in tables
        if each.is_file()
    )
    return [] if said else ["--line-length", str(WIDTH)]


def _find(name: str) -> str | None:
    """Beside this Python, where an environment that is not activated has it, or on the PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.is_file() else which(name)
