"""Processes and their descendants, read from /proc, and how to end them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Long enough for compilers and tests to remove their temporary files.
PATIENCE_SECONDS = 2.0
_KILLED_SECONDS = 0.3
_ENDED = ("Z", "X")


@dataclass(frozen=True)
class Member:
    """A running process; `began` tells it from a later process with the same pid."""

    pid: int
    parent: int
    began: str

    def signal(self, number: signal.Signals) -> None:
        """Signal the process; do nothing if it has ended or is not ours."""
        with suppress(OSError):
            os.kill(self.pid, number)


def member(pid: int) -> Member | None:
    """Return the running process of this pid; None if it has ended, even if not yet reaped."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The fields follow the program's name, which may contain any character.
    fields = text.rpartition(")")[2].split()
    ended = not fields or fields[0] in _ENDED
    return None if ended else Member(pid, int(fields[1]), fields[19])


def descendants(root: int) -> list[Member]:
    """List the children of a process, their children, and so on, nearest first."""
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
    """Yield a process, its parent, and so on."""
    while process := member(pid):
        yield process
        pid = process.parent


def end_descendants() -> None:
    """Kill and reap all descendants of this process, which must be a subreaper.

    As a subreaper it becomes the parent of orphans, also of those in another group or session.
    """
    while True:
        for process in descendants(os.getpid()):
            process.signal(signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def end_below(root: int, spared: Collection[Member] = ()) -> None:
    """Kill all descendants of a process but `spared`, also those that they start meanwhile."""
    ends = time.monotonic() + _KILLED_SECONDS
    while left := [process for process in descendants(root) if process not in spared]:
        for process in left:
            process.signal(signal.SIGKILL)
        if time.monotonic() > ends:
            return  # One waits for a device that does not answer.
        time.sleep(0.005)


def end_family(leader: subprocess.Popen[bytes], patience: float = PATIENCE_SECONDS) -> None:
    """Ask a leader's process group to end, kill the rest after `patience`, wait for the leader."""
    # A leader that has ended has no children any more; to look for them reads all of /proc.
    below = _by_pid(leader.pid) if leader.poll() is None else {}
    signal_group(leader, signal.SIGTERM)
    signal_group(leader, signal.SIGCONT)  # A stopped process does not end before it goes on.
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
    """Signal the process group that `leader` leads."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader.pid, number)


def _by_pid(root: int) -> Mapping[int, Member]:
    return {process.pid: process for process in descendants(root)}


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
