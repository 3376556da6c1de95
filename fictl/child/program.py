"""Program: a module of ours that runs once, for one request, by itself or under a tool."""

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

# Begins a word that names the file of a request; no JSON of a dataclass does.
_FILE = "@"


@dataclass(frozen=True)
class Program:
    """`python -m module REQUEST`. `before` are words of a tool that starts it and watches it.

    variables: added to this process's environment. files: see `filed`.
    """

    module: str
    request: object
    variables: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str | Path, ...] = ()
    files: tuple[Path, ...] = ()

    def argv(self) -> list[str]:
        """The command line, with the request itself or the name of its file."""
        words = [f"{_FILE}{self.files[0]}", str(self.files[1])] if self.files else None
        start = [*map(str, self.before), sys.executable, "-m", self.module]
        return [*start, *(words or [to_text(self.request)])]

    def under(self, tool: Sequence[str | Path], variables: Mapping[str, str]) -> Program:
        """The same program, started by `tool`, with more variables."""
        return replace(self, before=(*tool,), variables={**self.variables, **variables})

    def listen(self, listener: Listener, timeout: float | TimeLimit) -> Finished:
        """Run it to its end; TimedOut when it is killed for `timeout`."""
        return stream(self.argv(), listener.hear, env=self.variables, timeout=timeout)

    def filed(self, folder: Path) -> Program:
        """The same program, with its request and later its answer in files of this folder: either
        may be of any size then, and stdout is the program's own.
        """
        request = folder / "request.json"
        request.write_text(to_text(self.request), encoding="utf-8")
        return replace(self, files=(request, folder / "answer.json"))

    def run(self, timeout: float) -> Finished:
        """Run it to its end, and keep what it prints; TimedOut as above."""
        return run(self.argv(), self.variables, timeout)

    def answer(self, kind: type[T]) -> T | None:
        """The answer that it left in its file; None where it ended before."""
        _, file = self.files
        if not os.path.isfile(file):
            return None
        return from_text(kind, file.read_text(encoding="utf-8"))


def request_in(arguments: Sequence[str], kind: type[T]) -> T:
    """The request of this process, from its command line."""
    word = arguments[0]
    text = Path(word[1:]).read_text(encoding="utf-8") if word.startswith(_FILE) else word
    return from_text(kind, text)


def leave_answer(arguments: Sequence[str], answer: object) -> None:
    """Write the answer of this process to the file that its command line names, if it names one."""
    for word in arguments[1:]:
        Path(word).write_text(to_text(answer), encoding="utf-8")
