"""Running other programs: captured, timed, never through a shell."""

from __future__ import annotations

import os
import resource  # os.wait4 imports it on first use, where sys.path may be another.
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import SetupError
from fictl.redact import hide_secrets


@dataclass(frozen=True)
class Finished:
    """Output and exit code of a program; `peak_kib` is the largest of it and the processes it waited for."""

    argv: tuple[str, ...]
    code: int
    output: str
    seconds: float
    peak_kib: int = 0


# Long enough for a compiler on a slow network drive.
_ANSWER_SECONDS = 60.0

_running: set[subprocess.Popen[str]] = set()
_stopped: set[subprocess.Popen[str]] = set()


class TimedOut(SetupError):
    """A program was still running after the time that it was given, and was ended."""


class TimeLimit:
    """Seconds that a program may take. `restart` while it runs gives its next part a limit of its own."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_over = False
        self._group: int | None = None
        self._timer: threading.Timer | None = None

    def start(self, group: int) -> None:
        """Begin for the processes of this group, which is the program's own."""
        self._group = group
        self.restart(self.seconds)

    def restart(self, seconds: float) -> None:
        self._cancel()
        self.seconds = seconds
        if self._group is not None:
            self._timer = threading.Timer(seconds, self._end, (self._group,))
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        """The program has ended: its number may soon be another's."""
        self._cancel()
        self._group = None

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end(self, group: int) -> None:
        self.is_over = True
        # Why the group: what a script has started holds the pipe open, too.
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def run(
    argv: Sequence[str | Path],
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Finished:
    """Run to the end; stdout and stderr together."""
    lines: list[str] = []
    return stream(argv, lines.append, env=env, timeout=timeout)


def ask(argv: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Finished:
    """Run what answers at once, as --version does; a program that hangs is a TimedOut."""
    return run(argv, env, timeout=_ANSWER_SECONDS)


def stream(
    argv: Sequence[str | Path],
    on_line: Callable[[str], object],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | TimeLimit | None = None,
) -> Finished:
    """Run to the end, handing over each line of stdout and stderr as it comes.

    After `timeout` seconds the program is killed with all that it started: TimedOut.
    """
    words = tuple(str(word) for word in argv)
    start = time.monotonic()
    merged = {**os.environ, **(env or {})}
    merged["PATH"] = _folders_of(merged.get("PATH", os.defpath))
    try:
        child = subprocess.Popen(
            words,
            cwd=cwd,
            env=merged,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=timeout is not None,
        )
    except OSError as error:
        raise SetupError(
            f"cannot run {words[0]}: {error.strerror}", "check that it exists and is executable"
        ) from error
    output: list[str] = []
    with child, _stoppable(child), _deadline(child, timeout):
        assert child.stdout is not None
        try:
            for line in child.stdout:
                output.append(line)
                on_line(line.rstrip("\n"))
        except BaseException:
            child.terminate()
            raise
        code, peak_kib = _wait(child)
    return Finished(words, code, "".join(output), time.monotonic() - start, peak_kib)


def _folders_of(search_path: str) -> str:
    """Drop what is not a folder from a PATH: execvp, by which compilers start others, gives up at a link that
    leads to itself.
    """
    folders = search_path.split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not folder or os.path.isdir(folder))


def stop_all() -> None:
    """End the programs that other threads run: where they are waited for, KeyboardInterrupt."""
    for child in tuple(_running):
        _stopped.add(child)
        child.terminate()


def ending(code: int) -> str:
    """Spell how a program with this exit code ended: 'SIGSEGV', or 'exit code 3'."""
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


@contextmanager
def _stoppable(child: subprocess.Popen[str]) -> Iterator[None]:
    _running.add(child)
    try:
        yield
    finally:
        _running.discard(child)
        stopped = child in _stopped
        _stopped.discard(child)
    if stopped:
        raise KeyboardInterrupt


@contextmanager
def _deadline(child: subprocess.Popen[str], timeout: float | TimeLimit | None) -> Iterator[None]:
    if timeout is None:
        yield
        return
    limit = timeout if isinstance(timeout, TimeLimit) else TimeLimit(timeout)
    limit.start(child.pid)
    try:
        yield
    finally:
        limit.stop()
    if limit.is_over:
        assert isinstance(child.args, tuple)
        raise TimedOut(
            f"{child.args[0]} did not end within {limit.seconds:g} s",
            f"it hangs by hand, too? {hide_secrets(shlex.join(child.args))}",
        )


def _wait(child: subprocess.Popen[str]) -> tuple[int, int]:
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, _peak_kib(usage)


def _peak_kib(usage: resource.struct_rusage) -> int:
    """macOS counts bytes, Linux KiB."""
    return usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)
