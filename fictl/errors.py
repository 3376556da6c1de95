"""The one family of errors that fictl raises: what happened, the values seen, what to do."""

from __future__ import annotations

import errno


class Terminated(SystemExit):
    """SIGTERM: no error of what runs, and not to be caught as one."""


class FictlError(RuntimeError):
    """The thing asked for failed. `hint` says what to do about it."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class UsageError(FictlError, ValueError):
    """The request itself is wrong: an unknown name, a malformed file or value.

    A ValueError too, for callers of the Python API; what is below is what they expect of it.
    """

    exit_code = 2


class InvalidValue(UsageError):
    """A value that cannot be parsed, or is out of its range."""


class WrongType(InvalidValue, TypeError):
    """A value of a type that is not taken; a TypeError too."""


class MissingFile(UsageError, FileNotFoundError):
    """A file or a folder that is not there; a FileNotFoundError too."""


class SetupError(FictlError):
    """This machine cannot do it: no compiler, no GPU, no permission, no space."""

    exit_code = 3


class NotInstalled(SetupError):
    """A Python package that only some ops need to be built, and one of them is."""


class NotOnDevice(SetupError):
    """An op that is not for the device that it was asked to run on."""


_OF_CODES: dict[int, type[FictlError]] = {
    kind.exit_code: kind for kind in (FictlError, UsageError, SetupError)
}


def from_exit_code(code: int) -> type[FictlError]:
    """The error whose exit code this is: what another process of fictl ended with."""
    return _OF_CODES.get(code, FictlError)


def unreadable(path: object, error: OSError, hint: str = "") -> UsageError:
    """The error for a file that somebody has named, and that the system does not give."""
    missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    kind = MissingFile if missing else UsageError
    return kind(f"{path} cannot be read: {error.strerror}", hint)


# The name that was given is to blame; with other numbers, it is the machine.
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
    """A value in a message: control characters escaped, a long one cut in its middle."""
    line = text if text.isprintable() else repr(text)[1:-1]
    if len(line) <= _LONGEST:
        return line
    half = _LONGEST // 2 - 1
    return f"{line[:half]}…{line[-half:]} ({len(text)} characters)"
