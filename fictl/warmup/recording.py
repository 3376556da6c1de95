"""Recording what a program needs: for a command, or for a part of this process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import FictlError, SetupError
from fictl.user_file import require_writable
from fictl.warmup.needs_file import read, require_readable

_STDERR = 2


@dataclass(frozen=True)
class Recorded:
    """Exit code of the program, and the number of modules in the file; `problem` says why none."""

    file: Path
    code: int
    modules: int
    problem: FictlError | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"file": str(self.file), "exit_code": self.code, "modules": self.modules}


@contextmanager
def recording(path: Path | str) -> Iterator[Path]:
    """Record the modules that this process, and those that it starts, load meanwhile."""
    place = Path(path).absolute()
    require_writable(settings.WARMUP_RECORD.name, place)
    with settings.WARMUP_RECORD.temporarily(str(place)):
        yield place


def record(command: Sequence[str], path: Path, quiet: bool = False) -> Recorded:
    """Run a program with FICTL_WARMUP_RECORD; `quiet` sends its output to stderr.

    The program gets the terminal and its signals: Ctrl-C ends it, and what it needed is kept.
    """
    place = path.absolute()
    require_recordable(command, place)
    code = _run(command, {**os.environ, settings.WARMUP_RECORD.name: str(place)}, quiet)
    problem = require_readable(place)
    return Recorded(place, code, 0 if problem else len(read(place).modules), problem)


def require_recordable(command: Sequence[str], place: Path) -> None:
    """Refuse, before anything runs, a program that is not there and a file that cannot be written."""
    require_writable("--out", place)
    if shutil.which(command[0]) is None:
        raise SetupError(f"cannot run {command[0]}: it is not there", "check its name and PATH")


def _run(command: Sequence[str], env: dict[str, str], quiet: bool) -> int:
    try:
        program = subprocess.Popen(command, env=env, stdout=_STDERR if quiet else None)
    except OSError as error:
        raise SetupError(
            f"cannot run {command[0]}: {error.strerror}", "check that it exists and is executable"
        ) from None
    while True:
        try:
            return program.wait()
        except KeyboardInterrupt:  # The terminal has sent it to the program as well.
            with suppress(ProcessLookupError):
                if not sys.stdin.isatty():
                    program.send_signal(signal.SIGINT)
        except BaseException:  # SIGTERM ends this process: the program must not outlive it.
            program.terminate()
            program.wait()
            raise
