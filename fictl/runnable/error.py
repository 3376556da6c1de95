"""BuildError: why a solution could not be built, with all that its compiler said."""

from __future__ import annotations

from fictl.errors import FictlError, SetupError


class BuildError(FictlError):
    """`first_error` is the first real diagnostic, `log` the whole text."""

    def __init__(
        self, message: str, hint: str = "", *, log: str = "", first_error: str = ""
    ) -> None:
        super().__init__(message, hint)
        self.log = log
        self.first_error = first_error or message

    @property
    def is_of_machine(self) -> bool:
        """Nothing is wrong with the solution: it may build here tomorrow."""
        return self.exit_code == SetupError.exit_code

    def again(self) -> BuildError:
        """To be raised once more: one object would gather the tracebacks of all who asked."""
        copy = BuildError(self.message, self.hint, log=self.log, first_error=self.first_error)
        copy.exit_code = self.exit_code
        return copy

    @classmethod
    def of(cls, solution: str, error: FictlError) -> BuildError:
        """Of what a part of fictl raised while it built `solution`."""
        message = error.message if solution in error.message else f"{solution}: {error.message}"
        failure = cls(message, error.hint, first_error=error.message)
        failure.exit_code = error.exit_code
        return failure


def machine_error(message: str, hint: str) -> BuildError:
    """What this machine lacks to build it."""
    error = BuildError(message, hint)
    error.exit_code = SetupError.exit_code
    return error
