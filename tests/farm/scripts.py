"""Programs that stand for a worker: a place whose Python is a script."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from fictl.farm.place import Place


def script(folder: Path, code: str, program: str = sys.executable) -> str:
    """Write an executable script; its name is new."""
    path = folder / f"script-{len([*folder.iterdir()])}"
    path.write_text(f"#!{program}\n{code}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def place(folder: Path, code: str, name: str = "7", shell: bool = False, **more: Any) -> Place:
    """Make a place of this machine that runs the script instead of a worker."""
    return Place(name, python=script(folder, code, "/bin/sh" if shell else sys.executable), **more)
