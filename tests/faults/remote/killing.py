"""Commands that are killed: in forks of one process, at a step of theirs or at a request."""

from __future__ import annotations

import json
import os
import signal
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ...servers.loopback import Exchange
from ...servers.proxy import Forward, around

KILLED = -signal.SIGKILL
# On a busy machine a command would ask again: more requests than it needs, and an end before it is
# killed.
PATIENT = {"FICTL_REMOTE_TIMEOUT": "60"}
_POINTS = 20


class Forks:
    """A process that runs commands in forks of its own; see forked.py."""

    def __init__(self, process, folder: Path) -> None:
        self._process, self._folder = process, folder

    def begin(self, *words: str, die_at: int = 0, **variables: str) -> int:
        """Start a command; its pid."""
        job = {"words": words, "variables": variables, "die_at": die_at}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> tuple[int, int]:
        """The exit status of the command, and how many steps it took."""
        line = self._process.stdout.readline()
        assert line, self._process.stderr.read()
        code, steps = json.loads(line)
        output = (self._folder / "output").read_text()
        assert "Traceback" not in output, output
        assert code in {0, KILLED}, output
        return code, steps

    def run(self, *words: str, die_at: int = 0, **variables: str) -> tuple[int, int]:
        self.begin(*words, die_at=die_at, **variables)
        return self.end()


def spread(steps: int) -> list[int]:
    """The numbers of so many steps, spread over all."""
    assert steps >= 5
    return sorted({1 + number * (steps - 1) // (_POINTS - 1) for number in range(_POINTS)})


def killed_at_request(
    remote: Any, forks: Forks, number: int, when: str, words: tuple[str, ...], **variables: str
) -> int:
    """Run a command, and kill it at the request of that number, before or after it is answered.

    What it had asked for has reached the server then.
    """
    assert remote.proxy is not None
    pid: Future[int] = Future()
    is_over = threading.Event()

    def die() -> None:
        os.kill(pid.result(timeout=60), signal.SIGKILL)

    async def fault(exchange: Exchange, forward: Forward) -> None:
        try:
            await around(**{when: die})(exchange, forward)
        finally:
            is_over.set()

    remote.proxy.fail(fault, skip=number, times=1)
    pid.set_result(forks.begin(*words, **{**PATIENT, **variables}))
    code, _ = forks.end()
    assert code != KILLED or is_over.wait(60)
    remote.proxy.heal()
    return code
