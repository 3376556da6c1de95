"""Execution of other programs: captured, timed, never through a shell."""

from __future__ import annotations

import os
import resource  # os.wait4 imports it on first use, when sys.path may differ.
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
    """Output and exit code of a program.

    peak_kib: largest memory of the program or any child process that it waited for.
    """

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
    """A program was still running at its timeout and was killed."""

    code = "timed-out"


class TimeLimit:
    """Timeout of a program, in seconds; `restart` gives its next part a new timeout."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_over = False
        self._group: int | None = None
        self._timer: threading.Timer | None = None

    def start(self, group: int) -> None:
        """Start the timer for this process group, which belongs to the program alone."""
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
        """Stop the timer after the program's end, because its pid may be reused."""
        self._cancel()
        self._group = None

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _end(self, group: int) -> None:
        self.is_over = True
        # Why the group: children of a script keep the pipe open as well.
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


def run(
    argv: Sequence[str | Path],
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Finished:
    """Run a program to its end; capture stdout and stderr together."""
    lines: list[str] = []
    return stream(argv, lines.append, env=env, timeout=timeout)


def ask(argv: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Finished:
    """Run a command that answers at once, such as --version; raise TimedOut if it hangs."""
    return run(argv, env, timeout=_ANSWER_SECONDS)


def stream(
    argv: Sequence[str | Path],
    on_line: Callable[[str], object],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | TimeLimit | None = None,
) -> Finished:
    """Run a program to its end, passing on each line of stdout and stderr as it comes.

    After `timeout` seconds, kill the program and its process group, and raise TimedOut.
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


def attached(
    argv: Sequence[str | Path], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> int:
    """Run a program at this process's terminal and return its exit code; it writes to stderr.

    Ctrl-C is meant for the program, as in a debugger.
    """
    words = tuple(str(word) for word in argv)
    with subprocess.Popen(words, cwd=cwd, env={**os.environ, **(env or {})}, stdout=2) as child:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return child.wait()
        finally:
            signal.signal(signal.SIGINT, before)


def set_defaults(variables: Mapping[str, str]) -> None:
    """Set environment variables of this process that are not set, for libraries that read them."""
    for name, value in variables.items():
        os.environ.setdefault(name, value)


def _folders_of(search_path: str) -> str:
    """Drop entries of PATH that are not folders.

    Compilers start other programs by execvp, which gives up at a link that leads to itself.
    """
    folders = search_path.split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not folder or os.path.isdir(folder))


def stop_all() -> None:
    """End the programs that other threads run; those threads then raise KeyboardInterrupt."""
    for child in tuple(_running):
        _stopped.add(child)
        child.terminate()


def ending(code: int) -> str:
    """Describe how a program with this exit code ended: 'SIGSEGV', or 'exit code 3'."""
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
    """Convert the peak memory to KiB: macOS reports bytes, Linux KiB."""
    return usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)
