"""Errors of ops that another op is made of, in the words of the latter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


class Renaming:
    """A context in which errors of another op name its arguments as they are called here."""

    def __init__(self, names: Mapping[str, str], where: str = "") -> None:
        self._names = names
        self._where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ValueError) and hasattr(error, "hint"):  # One of fictl's.
            own: Any = error
            own.message = self._where + self._renamed(own.message, "'")
            own.hint = self._renamed(own.hint, r"\b")
            own.args = (own.message,)
        elif isinstance(error, TypeError | ValueError):
            raise type(error)(self._where + self._renamed(str(error), "'")) from None

    def _renamed(self, text: str, edge: str) -> str:
        """Replace names that stand between quotes, or between edges of words."""
        theirs = re.compile("|".join(f"(?<={edge}){name}(?={edge})" for name in self._names))
        return theirs.sub(lambda match: self._names.get(match[0], ""), text)
