"""The version, written here and nowhere else, and the commit that this code was made from."""

from __future__ import annotations

import os
from functools import cache

from fictl import process
from fictl.errors import SetupError
from fictl.paths import PACKAGE

VERSION = "0.1.0"

# In the package, written when a wheel or an sdist is built; a checkout has none and asks git.
COMMIT_FILE = "commit.txt"


@cache
def commit() -> str:
    """The full hash, or '' where nobody knows it."""
    recorded = PACKAGE / COMMIT_FILE
    if os.path.isfile(recorded):
        return recorded.read_text(encoding="utf-8").strip()
    # Why: an unpacked copy inside another project's checkout is not at that project's commit.
    if not os.path.exists(PACKAGE.parent / ".git"):
        return ""
    try:
        asked = process.run(["git", "-C", PACKAGE.parent, "rev-parse", "HEAD"])
    except SetupError:
        return ""
    return asked.output.strip() if asked.code == 0 else ""


def describe() -> str:
    """`fictl 0.1.0 (commit 3f2a91c)`: for --version, reports and results."""
    return f"fictl {VERSION}" + (f" (commit {commit()[:7]})" if commit() else "")
