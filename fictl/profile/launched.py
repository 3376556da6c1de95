"""The program of a request under a tool of NVIDIA's: what both print, and what was wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fictl.case.messages import CaseChosen
from fictl.child.listener import Listener
from fictl.errors import FictlError
from fictl.process import TimedOut
from fictl.profile.request import ProfileRequest


class Launched:
    """`code` is the exit code of the tool.

    late: both were killed, for which the program may be done, too.
    """

    def __init__(self, on_line: Callable[[str], object]) -> None:
        self.case = ""
        self.code = 0
        self.late = False
        self.listener = Listener({CaseChosen: self._choose}, on_line)

    @property
    def lines(self) -> list[str]:
        """The lines of the tool and of the program, in the order in which they came."""
        return self.listener.lines

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    @property
    def done(self) -> bool:
        """The program made its calls."""
        return self.listener.done

    @property
    def error(self) -> FictlError | None:
        return self.listener.error

    def last_words(self, marks: Sequence[str] = ()) -> str:
        """The end of what the program printed, without lines of the tool, which begin with a mark."""
        return self.listener.last_words(marks=marks)

    def _choose(self, message: CaseChosen) -> None:
        self.case = message.case


def launch(
    tool: Sequence[str | Path],
    request: ProfileRequest,
    on_line: Callable[[str], object],
    variables: Mapping[str, str],
) -> Launched:
    """`tool` before the request's program; at the end of options.timeout seconds both are killed."""
    launched = Launched(on_line)
    program = request.program.under(tool, variables)
    try:
        launched.code = program.listen(launched.listener, request.options.timeout).code
    except TimedOut:
        launched.late = True
    return launched
