"""JudgeFault: a failure of the judge or its machine, which says nothing about a solution."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager

from fictl.errors import FictlError, SetupError

# Kind of a sandboxed process's answer after a failure of the judge's own code.
FAULT = "fault of the judge"
_HINTS = {
    errno.ENOSPC: "free some space, or set TMPDIR to a folder of another disk",
    errno.EDQUOT: "free some space, or set TMPDIR to a folder of another disk",
    errno.EROFS: "set TMPDIR to a folder that can be written",
    errno.EACCES: "set TMPDIR to a folder that can be written",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "too many files are open on this machine",
    errno.ENOMEM: "free some memory",
    errno.EAGAIN: "raise the limit of processes (ulimit -u)",
}
_OF_MACHINE = {*_HINTS, errno.EIO, errno.ENOBUFS, errno.ESTALE} - {errno.EACCES}
NO_VERDICT = "this is not a verdict on the solution: judge it again"
# The form in which Rust libraries quote a system error.
_NUMBER = re.compile(r"\(os error (\d+)\)")


class JudgeFault(SetupError):
    """A workload was not judged. A run continues with the next one; --resume repeats this one."""

    code = "judge-fault"


@contextmanager
def own_faults(doing: str) -> Iterator[None]:
    """Raise every error that is not a FictlError as a fault of the judge."""
    try:
        yield
    except FictlError:
        raise
    except Exception as error:
        raise fault(doing, error) from error


def fault(doing: str, error: Exception) -> JudgeFault:
    cause = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return JudgeFault(f"the judge failed while {doing}: {cause}", _hint(error))


def is_of_machine(error: BaseException) -> bool:
    """Tell whether the machine ran out of disk space, memory or files."""
    return isinstance(error, SetupError) or _errno(error) in _OF_MACHINE


def _hint(error: BaseException) -> str:
    return _HINTS.get(_errno(error), NO_VERDICT)


def _errno(error: BaseException) -> int:
    if isinstance(error, OSError):
        return error.errno or 0
    match = _NUMBER.search(str(error)) if type(error).__name__ == "SafetensorError" else None
    return int(match[1]) if match else 0
