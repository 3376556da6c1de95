"""A process and its descendants, read from /proc, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Long enough for a compiler's half-written files and a test's temporary ones to be removed.
PATIENCE_SECONDS = 2.0
_ENDED = ("Z", "X")


@dataclass(frozen=True)
class Member:
    """A running process; `began` tells it from a later one that is given its number."""

    pid: int
    parent: int
    began: str

    def signal(self, number: signal.Signals) -> None:
        """Nothing happens where it has ended, or is not ours to end."""
        with suppress(OSError):
            os.kill(self.pid, number)


def member(pid: int) -> Member | None:
    """None for a process that has ended, also while nobody has waited for it yet."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # Behind the name of the program, which may hold anything.
    fields = text.rpartition(")")[2].split()
    ended = not fields or fields[0] in _ENDED
    return None if ended else Member(pid, int(fields[1]), fields[19])


def descendants(root: int) -> list[Member]:
    """Children of a process, their children, and so on: the nearest first."""
    below: dict[int, list[Member]] = {}
    for pid in _pids():
        if process := member(pid):
            below.setdefault(process.parent, []).append(process)
    front, family = [root], list[Member]()
    while front:
        generation = sorted(
            (child for parent in front for child in below.get(parent, ())),
            key=lambda child: child.pid,
        )
        family += generation
        front = [child.pid for child in generation]
    return family


def ancestors(pid: int) -> Iterator[Member]:
    """A process, its parent, and so on."""
    while process := member(pid):
        yield process
        pid = process.parent


def end_descendants() -> None:
    """Kill and reap all descendants of this process, which must be a subreaper: those that left
    their group or session then are its children as soon as their own parent has gone.
    """
    while True:
        for process in descendants(os.getpid()):
            process.signal(signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def end_family(leader: subprocess.Popen[bytes], patience: float = PATIENCE_SECONDS) -> None:
    """Ask the group of a leader to end, kill what is left after a while, and wait for the leader."""
    below = _by_pid(leader.pid)
    signal_group(leader, signal.SIGTERM)
    try:
        leader.wait(patience)
    except subprocess.TimeoutExpired:
        below = {**below, **_by_pid(leader.pid)}
        leader.kill()
        leader.wait()
    signal_group(leader, signal.SIGKILL)
    for pid, process in below.items():
        left = member(pid)
        if left and left.began == process.began:
            left.signal(signal.SIGKILL)


def signal_group(leader: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal the process group that `leader` was started as the leader of."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader.pid, number)


def _by_pid(root: int) -> Mapping[int, Member]:
    return {process.pid: process for process in descendants(root)}


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
