"""The program of a request under one of NVIDIA's tools: the output of both, and their problems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fictl.case.messages import CaseChosen
from fictl.child.listener import Listener
from fictl.errors import FictlError
from fictl.process import TimedOut
from fictl.profile.request import ProfileRequest


class Launched:
    """Result of a run; `code` is the exit code of the tool.

    late: both were killed at the timeout, though the program may have finished.
    """

    def __init__(self, on_line: Callable[[str], object]) -> None:
        self.case = ""
        self.code = 0
        self.late = False
        self.listener = Listener({CaseChosen: self._choose}, on_line)

    @property
    def lines(self) -> list[str]:
        """The lines of the tool and of the program, in order of arrival."""
        return self.listener.lines

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    @property
    def done(self) -> bool:
        """True if the program made its calls."""
        return self.listener.done

    @property
    def error(self) -> FictlError | None:
        return self.listener.error

    def last_words(self, marks: Sequence[str] = ()) -> str:
        """The end of the program's output, without lines of the tool, which begin with a mark."""
        return self.listener.last_words(marks=marks)

    def _choose(self, message: CaseChosen) -> None:
        self.case = message.case


def launch(
    tool: Sequence[str | Path],
    request: ProfileRequest,
    on_line: Callable[[str], object],
    variables: Mapping[str, str],
) -> Launched:
    """Run the request's program under `tool`; kill both after options.timeout seconds."""
    launched = Launched(on_line)
    program = request.program.under(tool, variables)
    try:
        launched.code = program.listen(launched.listener, request.options.timeout).code
    except TimedOut:
        launched.late = True
    return launched
