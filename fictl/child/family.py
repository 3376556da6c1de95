"""Processes and their descendants, read from /proc, and how to end them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

# Long enough for compilers and tests to remove their temporary files.
PATIENCE_SECONDS = 2.0
_KILLED_SECONDS = 0.3
# Bytes of a `stat`, and its fields up to the time of its start.
_LONGEST_STAT, _USED = 4096, 20
_ENDED, _STOPPED = (b"Z", b"X"), (b"T", b"t", b"Z", b"X")


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

    def is_stopped(self) -> bool:
        """Tell whether no thread of it runs or is in the kernel any more, as after SIGSTOP."""
        tasks = f"/proc/{self.pid}/task"
        try:
            threads = os.listdir(tasks)  # noqa: PTH208  # it is asked again and again
        except (FileNotFoundError, ProcessLookupError):
            return True  # It has ended.
        states = (_fields(f"{tasks}/{thread}/stat")[:1] for thread in threads)
        return all(state[0] in _STOPPED for state in states if state)


def member(pid: int) -> Member | None:
    """Return the running process of this pid; None if it has ended, even if not yet reaped."""
    fields = _fields(f"/proc/{pid}/stat")
    ended = not fields or fields[0] in _ENDED
    return None if ended else Member(pid, int(fields[1]), fields[19].decode())


def descendants(root: int) -> list[Member]:
    """List the children of a process, their children, and so on, nearest first."""
    below: dict[int, list[tuple[int, bytes]]] = {}
    for pid in _pids():
        fields = _fields(f"/proc/{pid}/stat")
        if fields and fields[0] not in _ENDED:
            below.setdefault(int(fields[1]), []).append((pid, fields[19]))
    front, family = [root], list[Member]()
    while front:
        generation = sorted(
            (pid, parent, began) for parent in front for pid, began in below.get(parent, ())
        )
        family += [Member(pid, parent, began.decode()) for pid, parent, began in generation]
        front = [pid for pid, _, _ in generation]
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
    """List the descendants; none where /proc cannot be read, as when no more files can be open."""
    with suppress(OSError):
        return {process.pid: process for process in descendants(root)}
    return {}


def _fields(path: str) -> list[bytes]:
    """Return the fields of a `stat` that follow the program's name; none if it cannot be read.

    A machine has hundreds of processes, and every search reads all of them: pathlib and text would
    take four times as long.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        # The name may contain any character.
        return os.read(handle, _LONGEST_STAT).rpartition(b")")[2].split(None, _USED)
    except OSError:
        return []
    finally:
        os.close(handle)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
