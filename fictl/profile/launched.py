"""The program of a request under a tool of NVIDIA's: what both say, and what was wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fictl.child.message import received
from fictl.errors import FictlError, SetupError, UsageError
from fictl.process import TimedOut, stream
from fictl.profile.request import Request

_ERRORS = {2: UsageError, 3: SetupError}
_LAST = 12


@dataclass
class Launched:
    """`lines` are those of the tool and of the program, in the order in which they came.

    done: the program made its calls. late: they were killed, for which `done` may be true, too.
    """

    say: Callable[[str], object]
    case: str = ""
    lines: list[str] = field(default_factory=list)
    code: int = 0
    done: bool = False
    late: bool = False
    error: FictlError | None = None

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def hear(self, line: str) -> None:
        message = received(line)
        if message is None:
            if line.strip():
                self.lines.append(line.rstrip())
                self.say(line.rstrip())
        elif message["kind"] == "case":
            self.case = message["case"]
        elif message["kind"] == "error":
            kind = _ERRORS.get(message["code"], FictlError)
            self.error = kind(message["message"], message["hint"])
        else:
            self.done = self.done or message["kind"] == "done"

    def last_words(self, marks: Sequence[str] = ()) -> str:
        """The end of what the program said: not the lines of the tool, which begin with a mark."""
        own = [line for line in self.lines if not line.startswith(tuple(marks))]
        return "\n".join(own[-_LAST:])


def launch(
    tool: Sequence[str | Path],
    request: Request,
    say: Callable[[str], object],
    environment: Mapping[str, str],
) -> Launched:
    """`tool` before the request's program; at the end of options.timeout seconds both are killed."""
    launched = Launched(say)
    try:
        done = stream(
            [*tool, *request.argv()],
            launched.hear,
            env={**request.environment(), **environment},
            timeout=request.options.timeout,
        )
    except TimedOut:
        launched.late = True
    else:
        launched.code = done.code
    return launched
