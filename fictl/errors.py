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


class UsageError(FictlError):
    """The request itself is wrong: an unknown name, a malformed file or value."""

    exit_code = 2


class InvalidValue(UsageError, ValueError):
    """A value that cannot be parsed; a ValueError too, for callers of the Python API."""


class SetupError(FictlError):
    """This machine cannot do it: no compiler, no GPU, no permission, no space."""

    exit_code = 3


class NotInstalled(SetupError):
    """A Python package that only some ops need to be built, and one of them is."""


class NotOnDevice(SetupError):
    """An op that is not for the device that it was asked to run on."""
