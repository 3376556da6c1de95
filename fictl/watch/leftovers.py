"""Temporary files that editors and Python write beside a file: none of them counts as a save."""

from __future__ import annotations

import re
from pathlib import Path

_NAMES = re.compile(
    r"\..*"  # .twice.cuh.swp, .#twice.cuh, .goutputstream-X1, the folder .git
    r"|.*~|#.*#"  # backups of vim and Emacs
    r"|\d+"  # 4913: vim tries whether it can create a file
    r"|.*___jb_(tmp|old)___"
    r"|.*\.(tmp|bak|orig|rej|py[co])"
    r"|__pycache__"
)


def is_leftover(path: Path, within: Path) -> bool:
    """True by its name, or by the name of a folder between it and `within`."""
    parts = path.parts[len(within.parts) :]
    return any(_NAMES.fullmatch(part) for part in parts)
