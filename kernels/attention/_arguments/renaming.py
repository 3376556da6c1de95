"""Errors of ops that another op is made of, in the words of the latter."""

from __future__ import annotations

import re
from collections.abc import Mapping


class Renaming:
    """A context in which errors of another op name its arguments as they are called here."""

    def __init__(self, names: Mapping[str, str], where: str = "") -> None:
        self._names = names
        self._where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, TypeError | ValueError):
            theirs = re.compile("|".join(f"(?<='){name}(?=')" for name in self._names))
            message = theirs.sub(lambda match: self._names[match[0]], str(error))
            raise type(error)(self._where + message) from None
