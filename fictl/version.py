"""The version, defined only here, and the commit of this code."""

from __future__ import annotations

import os
from functools import cache

from fictl import process
from fictl.errors import SetupError
from fictl.paths import PACKAGE

VERSION = "0.1.0"

# Written into the package when a wheel or sdist is built; a checkout asks git instead.
COMMIT_FILE = "commit.txt"


@cache
def commit() -> str:
    """Return the full hash, or '' if it is unknown."""
    recorded = PACKAGE / COMMIT_FILE
    if os.path.isfile(recorded):
        return recorded.read_text(encoding="utf-8").strip()
    # Why: a copy unpacked inside another project's checkout is not at that project's commit.
    if not os.path.exists(PACKAGE.parent / ".git"):
        return ""
    try:
        asked = process.run(["git", "-C", PACKAGE.parent, "rev-parse", "HEAD"])
    except SetupError:
        return ""
    return asked.output.strip() if asked.code == 0 else ""


def describe() -> str:
    """Describe this version, as in `fictl 0.1.0 (commit 3f2a91c)`, for --version and reports."""
    return f"fictl {VERSION}" + (f" (commit {commit()[:7]})" if commit() else "")
