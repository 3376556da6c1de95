"""Tracebacks of failed tests without fictl's own frames: the sentence stands below the user's line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from traceback import walk_tb
from types import FrameType
from typing import Any

import pytest

from fictl.errors import FictlError
from fictl.paths import PACKAGE

# What is said to a user; in another error, as a bug of fictl, each frame counts.
_SAID = (AssertionError, FictlError, ValueError, pytest.fail.Exception)
_GENERATED = f"{PACKAGE}{os.sep}testing{os.sep}generated{os.sep}contract.py"
# Between a test's call of a collective and the rank that ended it.
_COLLECTIVES = f"{os.sep}torch{os.sep}distributed{os.sep}"


def shorten(error: BaseException) -> None:
    """Hide, by pytest's own means, the frames of fictl below a test; --full-trace shows them."""
    for frame in _frames(error):
        path = frame.f_code.co_filename
        ours = path.startswith(f"{PACKAGE}{os.sep}") and path != _GENERATED
        if ours or _COLLECTIVES in path:
            frame.f_globals.setdefault("__tracebackhide__", _is_said)


def _frames(error: BaseException) -> Iterator[FrameType]:
    seen = set[int]()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield from (frame for frame, _ in walk_tb(following.__traceback__))
        following = following.__cause__ or following.__context__


def _is_said(info: pytest.ExceptionInfo[Any] | None) -> bool:
    return info is not None and isinstance(info.value, _SAID)
