"""A long-lived child on this machine, connected by the pipes of its stdin and stdout."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from fictl.child.family import end_family, signal_group
from fictl.child.lines import Lines
from fictl.child.session import Gone, Late
from fictl.paths import same_packages
from fictl.process import ending

_PATIENCE_SECONDS = 5.0
_STALL_SECONDS = 15.0  # Without reading anything, a reader is stopped or its machine is gone.


def python(*words: str) -> tuple[str, ...]:
    """Return the command line of this Python with these arguments."""
    return (sys.executable, *words)


class LocalProcess:
    """A program in its own session. It ends when this process ends, because its stdin closes.

    out, err: files to use instead of pipes; a pipe that nobody reads would block the child.
    same: it imports this process's packages. cwd: its working folder; default: this one's.
    """

    def __init__(
        self,
        argv: Sequence[str],
        variables: Mapping[str, str] | None = None,
        out: IO[bytes] | None = None,
        err: IO[bytes] | None = None,
        same: bool = True,
        cwd: Path | None = None,
    ) -> None:
        packages = same_packages() if same else {}
        self._popen = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**os.environ, **packages, **(variables or {})},
            stdin=subprocess.PIPE,
            stdout=out or subprocess.PIPE,
            stderr=err,
            start_new_session=True,
            bufsize=0,
        )
        assert self._popen.stdin is not None
        os.set_blocking(self._popen.stdin.fileno(), False)
        stdout = self._popen.stdout
        self._lines = Lines(stdout.fileno()) if stdout else None

    @property
    def has_ended(self) -> bool:
        return self._popen.poll() is not None

    def write_line(self, line: str) -> None:
        """Write the line; raise Gone if nobody reads, or Late if nobody has for a while."""
        assert self._popen.stdin is not None
        data = memoryview(line.encode() + b"\n")
        handle = self._popen.stdin.fileno()
        poll = select.poll()
        poll.register(handle, select.POLLOUT)
        while data:
            if not poll.poll(_STALL_SECONDS * 1000):
                raise Late(f"it has read nothing for {_STALL_SECONDS:g} s")
            try:
                data = data[os.write(handle, data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise Gone("it has ended") from None

    def next_line(self, deadline: float) -> str | None:
        assert self._lines is not None
        line = self._lines.next(deadline)
        return None if line is None else line.decode(errors="replace")

    @property
    def heard(self) -> float:
        """The time of the last output, which may be a part of a line."""
        assert self._lines is not None
        return self._lines.heard

    def wait(self, seconds: float | None = None) -> int:
        return self._popen.wait(seconds)

    def hang_up(self) -> None:
        """Close its stdin, so that an idle child ends by itself, and wait for a while."""
        with suppress(OSError):
            assert self._popen.stdin is not None
            self._popen.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.wait(_PATIENCE_SECONDS)

    def terminate(self) -> None:
        """Ask it and its group to end; another thread may wait for its answer meanwhile."""
        signal_group(self._popen, signal.SIGTERM)

    def close(self, patience: float = _PATIENCE_SECONDS) -> str:
        """End it with all its descendants, and return after they have ended."""
        end_family(self._popen, patience)
        for pipe in (self._popen.stdin, self._popen.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        return ending(self._popen.returncode)
