"""What code that is judged raised, told without the frames of who called it."""

from __future__ import annotations

import traceback

from fictl.paths import PACKAGE

_MOST = 60_000
# Who called it: nothing in them is of interest to the author of what was called.
_CALLERS = tuple(str(PACKAGE / part) for part in ("judge", "runnable"))
# Their __str__ is the solution's own code, and may raise anything.
_DEPTH = 8


def told(error: BaseException) -> str:
    """Its traceback."""
    try:
        found = traceback.TracebackException.from_exception(error)
        _cut(found, _DEPTH)
        return "".join(found.format())[-_MOST:].strip()
    except Exception:
        return f"a {type(error).__name__} that cannot be told"


def _cut(found: traceback.TracebackException, depth: int) -> None:
    kept = [frame for frame in found.stack if not frame.filename.startswith(_CALLERS)]
    found.stack = traceback.StackSummary.from_list(kept)
    for cause in (found.__cause__, found.__context__):
        if cause is not None and depth:
            _cut(cause, depth - 1)
