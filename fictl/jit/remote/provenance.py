"""Origin of a build's sources: the commit of the project, and if the tree had other changes."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from fictl import process
from fictl.errors import SetupError


@cache
def source_of(folder: Path) -> dict[str, Any]:
    """Return the commit that `folder` is at, and `dirty`; empty outside of a git repository."""
    if not any(os.path.exists(place / ".git") for place in (folder, *folder.parents)):
        return {}
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return {}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return {"commit": commit, "dirty": changes != ""}


def _git(folder: Path, *words: str) -> str | None:
    try:
        asked = process.run(["git", "-C", folder, *words])
    except SetupError:
        return None
    return asked.output.strip() if asked.code == 0 else None
