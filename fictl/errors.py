"""The one family of errors that fictl raises: what happened, the values seen, what to do."""

from __future__ import annotations


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


def unreadable(path: object, error: OSError, hint: str = "") -> UsageError:
    """The error for a file that somebody has named, and that the system does not give."""
    missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    kind = MissingFile if missing else UsageError
    return kind(f"{path} cannot be read: {error.strerror}", hint)
