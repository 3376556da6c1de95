"""BuildError: why a solution could not be built, with the compiler's output."""

from __future__ import annotations

from fictl.errors import FictlError, SetupError


class BuildError(FictlError):
    """`first_error` is the first real diagnostic, `log` the whole text."""

    code = "build-failed"

    def __init__(
        self, message: str, hint: str = "", *, log: str = "", first_error: str = ""
    ) -> None:
        super().__init__(message, hint)
        self.log = log
        self.first_error = first_error or message

    @property
    def is_of_machine(self) -> bool:
        """Tell whether the machine is the cause: the solution may build here later."""
        return self.exit_code == SetupError.exit_code

    def again(self) -> BuildError:
        """Copy to raise once more: one object would collect the tracebacks of all callers."""
        copy = BuildError(self.message, self.hint, log=self.log, first_error=self.first_error)
        copy.exit_code = self.exit_code
        return copy

    @classmethod
    def of(cls, solution: str, error: FictlError) -> BuildError:
        """Convert an error that a part of fictl raised while it built `solution`."""
        message = error.message if solution in error.message else f"{solution}: {error.message}"
        failure = cls(message, error.hint, first_error=error.message)
        failure.exit_code = error.exit_code
        return failure


def machine_error(message: str, hint: str) -> BuildError:
    """BuildError about what this machine lacks."""
    error = BuildError(message, hint)
    error.exit_code = SetupError.exit_code
    return error
