"""The author of exported solutions: part of the names of solutions and of their files."""

from __future__ import annotations

import re
from typing import Annotated

import typer

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _checked(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise typer.BadParameter(
            f"{value[:80]!r} names no author: ASCII letters, digits, '.', '_' and '-', at most 64"
        )
    return value


Author = Annotated[
    str,
    typer.Option("--author", metavar="NAME", help="Author of the solutions.", callback=_checked),
]
