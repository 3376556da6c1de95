"""A page in one file: its style and its script are inside, and its policy names them by their hashes.

Nothing else can run or be loaded: a name that somebody chose to look like markup stays text, twice.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from urllib.parse import quote

_HERE = Path(__file__).parent
_NOTHING_ELSE = "default-src 'none'; base-uri 'none'; form-action 'none'"


def document(title: str, parts: Iterable[str]) -> str:
    """Return the page; `parts` are markup, whose texts are escaped already."""
    style, script = _content("page.css"), _content("page.js")
    policy = f"{_NOTHING_ELSE}; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<style>{style}</style>\n<title>{escape(title)}</title></head>",
            f"<body>\n<main>\n<h1>{escape(title)}</h1>",
            *parts,
            f"</main>\n<script>{script}</script>\n</body></html>\n",
        ]
    )


def paragraphs(texts: Iterable[str]) -> list[str]:
    return [f"<p>{escape(text)}</p>" for text in texts]


def picture(drawing: str, facet: str) -> str:
    """Put a drawing into the page; `facet` is the one whose values are its series."""
    return f'<div class="wide" data-by="{escape(facet)}">{drawing}</div>'


def link_beside(target: Path, page: Path, root: Path) -> str:
    """Link to a file below `root`, from a page that lies in `root` or beside it; else ''.

    Such a link holds when both are moved, and tells nothing of the machine. No name can become a scheme or
    leave its quotes.
    """
    folder, root = page.parent.resolve(), root.resolve()
    if folder != root.parent and root not in (folder, *folder.parents):
        return ""
    return quote(os.path.relpath(target.resolve(), folder), safe="/")


@cache
def _content(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
