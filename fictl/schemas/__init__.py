"""JSON Schemas of what commands print with --json: a file for each, made from the code by `make pages`."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from fictl.errors import UsageError, shown
from fictl.paths import matching

FOLDER = Path(__file__).resolve().parent
_END = ".json"


def names() -> list[str]:
    """List the documents, as `fictl.cache.show`."""
    return [path.name.removesuffix(_END) for path in matching(FOLDER, f"*{_END}")]


def schema(name: str) -> dict[str, Any]:
    """Return the schema of a document, by any spelling of its command: `cache show`, `fictl.cache.show/1`."""
    words = name.removesuffix("/1").replace(".", " ").split()
    wanted = ".".join(words if words[:1] == ["fictl"] else ["fictl", *words])
    if not words or wanted not in names():
        near = difflib.get_close_matches(wanted, names(), 3)
        hint = f"did you mean {', '.join(near)}?" if near else "fictl schema lists them"
        raise UsageError(f"there is no document '{shown(name)}'", hint)
    document: dict[str, Any] = json.loads((FOLDER / f"{wanted}{_END}").read_text(encoding="utf-8"))
    return document
