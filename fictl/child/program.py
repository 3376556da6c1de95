"""Program: a module of fictl that runs once for one request, directly or under a tool."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from fictl.child.codec import from_text, to_text
from fictl.child.listener import Listener
from fictl.process import Finished, TimeLimit, run, stream

T = TypeVar("T")

# Prefix of an argument that names a request file; JSON of a dataclass never begins with it.
_FILE = "@"


@dataclass(frozen=True)
class Program:
    """`python -m module REQUEST`.

    variables: added to this process's environment.
    before: command line of a tool that starts and observes it.
    files: see `filed`.
    """

    module: str
    request: object
    variables: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str | Path, ...] = ()
    files: tuple[Path, ...] = ()

    def argv(self) -> list[str]:
        """Return the command line, with the request itself or its file's name."""
        words = [f"{_FILE}{self.files[0]}", str(self.files[1])] if self.files else None
        start = [*map(str, self.before), sys.executable, "-m", self.module]
        return [*start, *(words or [to_text(self.request)])]

    def under(self, tool: Sequence[str | Path], variables: Mapping[str, str]) -> Program:
        """Return the same program, started by `tool` and with more variables."""
        return replace(self, before=(*tool,), variables={**self.variables, **variables})

    def listen(self, listener: Listener, timeout: float | TimeLimit) -> Finished:
        """Run it to its end; raise TimedOut if it is killed after `timeout`."""
        return stream(self.argv(), listener.hear, env=self.variables, timeout=timeout)

    def filed(self, folder: Path) -> Program:
        """Return the same program with its request and answer in files of this folder.

        Both may then have any size, and the program may use stdout freely.
        """
        request = folder / "request.json"
        request.write_text(to_text(self.request), encoding="utf-8")
        return replace(self, files=(request, folder / "answer.json"))

    def run(self, timeout: float) -> Finished:
        """Run it to its end and keep its output; raise TimedOut as `listen` does."""
        return run(self.argv(), self.variables, timeout)

    def answer(self, kind: type[T]) -> T | None:
        """Read the answer from its file; None if the program ended before writing it."""
        _, file = self.files
        if not os.path.isfile(file):
            return None
        return from_text(kind, file.read_text(encoding="utf-8"))


def request_in(arguments: Sequence[str], kind: type[T]) -> T:
    """Read the request of this process from its command line."""
    word = arguments[0]
    text = Path(word[1:]).read_text(encoding="utf-8") if word.startswith(_FILE) else word
    return from_text(kind, text)


def leave_answer(arguments: Sequence[str], answer: object) -> None:
    """Write the answer to the file that the command line names, if there is one."""
    for word in arguments[1:]:
        Path(word).write_text(to_text(answer), encoding="utf-8")
