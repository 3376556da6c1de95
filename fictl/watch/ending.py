"""Ending a process with all that it started, whatever groups they are in."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl.paths import matching

# Long enough for a compiler's half-written files and a test's temporary ones to be removed.
_PATIENCE_SECONDS = 2.0


@dataclass(frozen=True)
class _Process:
    """`began` tells it from a later one that is given its number."""

    parent: int
    began: str


def end(leader: subprocess.Popen[bytes]) -> None:
    """It is asked first; what has not gone with it after a while is killed. It is waited for."""
    below = _below(leader.pid)
    with suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGTERM)
    try:
        leader.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        below |= _below(leader.pid)
        leader.kill()
        leader.wait()
    for number, process in below.items():
        left = _read(number)
        if left and left.began == process.began:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


def _below(leader: int) -> dict[int, _Process]:
    """Its children, theirs, and so on."""
    numbers = (int(folder.name) for folder in matching(Path("/proc"), "[0-9]*"))
    running = {number: found for number in numbers if (found := _read(number))}
    return {number: it for number, it in running.items() if _descends(it, leader, running)}


def _descends(process: _Process | None, leader: int, running: Mapping[int, _Process]) -> bool:
    while process is not None and process.parent != leader:
        process = running.get(process.parent)
    return process is not None


def _read(number: int) -> _Process | None:
    """None if it has gone, or is a zombie."""
    try:
        text = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # Behind its name, which may have spaces.
    return None if fields[0] == "Z" else _Process(int(fields[1]), fields[19])
