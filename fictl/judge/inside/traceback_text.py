"""Tracebacks of a solution's errors, without the frames of the judge."""

from __future__ import annotations

import traceback

from fictl.paths import PACKAGE

_MOST = 60_000
# Frames of the callers, which do not concern the solution's author.
_CALLERS = tuple(str(PACKAGE / part) for part in ("judge", "runnable"))
# Longest chain of causes to shorten.
_DEPTH = 8


def told(error: BaseException) -> str:
    """Format the traceback of `error`, even if its own methods raise."""
    try:
        summary = traceback.TracebackException.from_exception(error)
        _cut(summary, _DEPTH)
        return "".join(summary.format())[-_MOST:].strip()
    except Exception:
        return f"a {type(error).__name__} that cannot be formatted"


def _cut(summary: traceback.TracebackException, depth: int) -> None:
    kept = [frame for frame in summary.stack if not frame.filename.startswith(_CALLERS)]
    summary.stack = traceback.StackSummary.from_list(kept)
    for cause in (summary.__cause__, summary.__context__):
        if cause is not None and depth:
            _cut(cause, depth - 1)
