"""The family of errors that fictl raises: what happened, the values seen, what to do."""

from __future__ import annotations

import errno


class Terminated(SystemExit):
    """SIGTERM as an exception that handlers of ordinary errors do not catch."""


class FictlError(RuntimeError):
    """The request failed. `hint` says what to do about it."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class UsageError(FictlError, ValueError):
    """The request itself is wrong: an unknown name, a malformed file or value.

    It is also a ValueError, for callers of the Python API; its subclasses add the built-in error
    that such callers expect.
    """

    exit_code = 2


class InvalidValue(UsageError):
    """A value that cannot be parsed or is out of range."""


class WrongType(InvalidValue, TypeError):
    """A value of an unsupported type; also a TypeError."""


class MissingFile(UsageError, FileNotFoundError):
    """A missing file or folder; also a FileNotFoundError."""


class SetupError(FictlError):
    """This machine lacks a requirement: compiler, GPU, permission, disk space."""

    exit_code = 3


class NotInstalled(SetupError):
    """A missing Python package that only some ops need for their build."""


class NotOnDevice(SetupError):
    """An op that does not run on the requested device."""


_OF_CODES: dict[int, type[FictlError]] = {
    kind.exit_code: kind for kind in (FictlError, UsageError, SetupError)
}


def from_exit_code(code: int) -> type[FictlError]:
    """Return the error class of an exit code of another fictl process."""
    return _OF_CODES.get(code, FictlError)


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
