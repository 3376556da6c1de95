"""The family of errors that fictl raises: what happened, the values seen, what to do."""

from __future__ import annotations

import errno
from typing import TypedDict

# What `code` says in the error of a --json document: these names stay, new ones may come.
CODES = {
    "failed": "what was asked for failed: a test, a gate, a comparison",
    "backend": "a backend that was named cannot take the call",
    "build-failed": "a compiler or linker failed",
    "gpu-busy": "others used the GPU for as long as --wait allows",
    "internal": "a bug in fictl",
    "invalid-value": "a value cannot be parsed or is out of range",
    "judge-fault": "the judge of solutions failed, not the solution",
    "kernel-defect": "the emulated device stopped a kernel, or found a defect in it",
    "lost": "a process or a place ended before it answered",
    "missing-build": "FICTL_DISABLE_JIT is set and no store has the module",
    "missing-file": "a file or folder is not there",
    "no-case": "no case of an op is selected",
    "no-gradient": "the op has no gradient",
    "not-installed": "a Python package is missing",
    "not-on-device": "the op does not run on the device",
    "not-served": "fictl does not serve this name of FlashInfer",
    "rank-failed": "another rank could not do its part",
    "remote": "a remote store cannot be reached or does not answer as it should",
    "setup": "this machine lacks what is needed: a compiler, a GPU, permission, space",
    "source": "a source file of the project has an error",
    "timed-out": "a program did not end in time and was killed",
    "unreadable": "a document does not have the fields of its kind",
    "untranslatable": "an expression or a function cannot be made into a kernel",
    "untrusted": "a signature is missing, wrong, or of a key that is not trusted",
    "usage": "the command line or the request is wrong",
    "wrong-device": "a tensor is on another device than the op's",
    "wrong-type": "a value has an unsupported type",
}


class ErrorDocument(TypedDict):
    """An error in a --json document."""

    code: str
    message: str
    hint: str


class Terminated(SystemExit):
    """SIGTERM as an exception that handlers of ordinary errors do not catch."""


class FictlError(RuntimeError):
    """The request failed. `hint` says what to do about it, `code` is one of CODES."""

    exit_code = 1
    code = "failed"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message

    def to_dict(self) -> ErrorDocument:
        return {"code": self.code, "message": self.message, "hint": self.hint}


class UsageError(FictlError, ValueError):
    """The request itself is wrong: an unknown name, a malformed file or value.

    It is also a ValueError, for callers of the Python API; its subclasses add the built-in error
    that such callers expect.
    """

    exit_code = 2
    code = "usage"


class InvalidValue(UsageError):
    """A value that cannot be parsed or is out of range."""

    code = "invalid-value"


class WrongType(InvalidValue, TypeError):
    """A value of an unsupported type; also a TypeError."""

    code = "wrong-type"


class MissingFile(UsageError, FileNotFoundError):
    """A missing file or folder; also a FileNotFoundError."""

    code = "missing-file"


class SetupError(FictlError):
    """This machine lacks a requirement: compiler, GPU, permission, disk space."""

    exit_code = 3
    code = "setup"


class NotInstalled(SetupError):
    """A missing Python package that only some ops need for their build."""

    code = "not-installed"


class NotOnDevice(SetupError):
    """An op that does not run on the requested device."""

    code = "not-on-device"


_OF_CODES: dict[int, type[FictlError]] = {
    kind.exit_code: kind for kind in (FictlError, UsageError, SetupError)
}


def from_exit_code(exit_code: int, message: str, hint: str = "", code: str = "") -> FictlError:
    """Make the error that another fictl process reported; its code stays, if it is one of CODES."""
    error = _OF_CODES.get(exit_code, FictlError)(message, hint)
    if code in CODES:
        error.code = code
    return error


def unreadable(path: object, error: OSError, hint: str = "") -> UsageError:
    """Make the error for a file that a user named and the system cannot read."""
    missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    kind = MissingFile if missing else UsageError
    return kind(f"{path} cannot be read: {error.strerror}", hint)


# With these error numbers the given name is wrong; with others, the machine is at fault.
_OF_THE_NAME = frozenset(
    (
        errno.ENAMETOOLONG,
        errno.EINVAL,
        errno.EISDIR,
        errno.ENOTDIR,
        errno.ELOOP,
        errno.ENOENT,
        errno.EEXIST,
        errno.EFBIG,
        errno.ENOTEMPTY,
        errno.EXDEV,
    )
)
_OF_THE_MACHINE = {
    errno.ENOSPC: "make space there",
    errno.EDQUOT: "make space there",
    errno.EMFILE: "ulimit -n raises the limit",
    errno.ENFILE: "the system has no more open files to give",
    errno.ENOMEM: "the machine has no more memory to give",
}


def of_os(error: OSError) -> FictlError | None:
    """Turn an error of the file system into one for the user; None if it names no file."""
    number = error.errno or 0
    if error.filename is None and number not in _OF_THE_MACHINE:
        return None
    name = "" if error.filename is None else f"{shown(str(error.filename))}: "
    kind = UsageError if number in _OF_THE_NAME else SetupError
    return kind(f"{name}{error.strerror}", _OF_THE_MACHINE.get(number, ""))


_LONGEST = 120


def shown(text: str) -> str:
    """Format a value for a message: escape control characters, cut a long value in its middle."""
    line = text if text.isprintable() else repr(text)[1:-1]
    if len(line) <= _LONGEST:
        return line
    half = _LONGEST // 2 - 1
    return f"{line[:half]}…{line[-half:]} ({len(text)} characters)"
