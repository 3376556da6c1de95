"""Journal of outcomes on disk, because a test may end its process at any time.

A process that receives an earlier one's journal runs the remaining tests.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fictl.report.outcome import FAILED, TestOutcome


class JournalWriter:
    """Appends the events of one process; several ranks may write to one file."""

    def __init__(self, path: Path, rank: int = 0) -> None:
        self._rank = rank
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def began(self, device: str, schedules: list[str]) -> None:
        self._write(process=os.getpid(), device=device, schedules=schedules)

    def collected(self, tests: int) -> None:
        self._write(collected=tests)

    def started(self, test: str, command: str) -> None:
        self._write(started=test, command=command)

    def finished(self, outcome: TestOutcome, text: str = "") -> None:
        """Record an outcome; `text` is pytest's report of a failure, which it prints at the end."""
        self._write(**asdict(outcome), text=text)

    def told(self, verdict: str) -> None:
        """Record why the running test does not end; the process ends next."""
        self._write(verdict=verdict)

    def printed(self) -> None:
        """Record that pytest has printed the reports of all failures."""
        self._write(printed=True)

    def ended(self) -> None:
        """Record that every test has run."""
        self._write(ended=True)

    def _write(self, **event: Any) -> None:
        os.write(self._file, (json.dumps({"rank": self._rank, **event}) + "\n").encode())


@dataclass
class Journal:
    """Contents of the file, read as it grows; `begin` forgets the process, not the outcomes.

    running: test of each rank that has not ended; it counts as failed if the process ends.
    unsaid: reports of failures that a process has not printed yet, by its rank and by test.
    verdict: which rank kept another waiting, if that ended the process; by the rank that waited.
    """

    path: Path
    outcomes: dict[str, TestOutcome] = field(default_factory=dict)
    total: int = 0
    device: str = "cuda"
    schedules: tuple[str, ...] = ()
    processes: dict[int, int] = field(default_factory=dict)
    running: dict[int, TestOutcome] = field(default_factory=dict)
    unsaid: dict[int, dict[str, str]] = field(default_factory=dict)
    ranks_ended: set[int] = field(default_factory=set)
    verdict: tuple[int, str] | None = None
    _offset: int = 0

    @property
    def ended(self) -> bool:
        return bool(self.processes) and self.ranks_ended == set(self.processes)

    def begin(self) -> None:
        self.processes, self.running, self.unsaid, self.ranks_ended = {}, {}, {}, set()
        self.verdict = None

    def read(self) -> bool:
        """Read the events written since the last call; True if there were any."""
        if not os.path.isfile(self.path):
            return False
        with self.path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            self._take(json.loads(line))
        return bool(whole)

    def _take(self, event: dict[str, Any]) -> None:
        rank = event.pop("rank")
        if "process" in event:
            self.processes[rank] = event["process"]
            self.device, self.schedules = event["device"], tuple(event["schedules"])
        elif "collected" in event:
            self.total = len(self.outcomes) + event["collected"]
        elif "started" in event:
            self.running[rank] = TestOutcome(event["started"], FAILED, command=event["command"])
        elif "verdict" in event:
            self.verdict = self.verdict or (rank, event["verdict"])
        elif "ended" in event:
            self.ranks_ended.add(rank)
        elif "printed" in event:
            self.unsaid.pop(rank, None)
        else:
            text, outcome = event.pop("text"), TestOutcome(**event)
            if text:
                self.unsaid.setdefault(rank, {})[outcome.test] = text
            self.running.pop(rank, None)
            self.outcomes[outcome.test] = outcome.worse(self.outcomes.get(outcome.test))
