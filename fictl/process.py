"""Running other programs: captured, timed, never through a shell."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import SetupError


@dataclass(frozen=True)
class Finished:
    """What a program left behind; `peak_kib` is the largest of it and the processes it waited for."""

    argv: tuple[str, ...]
    code: int
    output: str
    seconds: float
    peak_kib: int = 0


def run(argv: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Finished:
    """Run to the end; stdout and stderr together."""
    lines: list[str] = []
    return stream(argv, lines.append, env=env)


def stream(
    argv: Sequence[str | Path],
    on_line: Callable[[str], object],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Finished:
    """Run to the end, handing over each line of stdout and stderr as it comes."""
    words = tuple(str(word) for word in argv)
    start = time.monotonic()
    merged = {**os.environ, **(env or {})}
    try:
        child = subprocess.Popen(
            words, cwd=cwd, env=merged, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise SetupError(
            f"cannot run {words[0]}: {error.strerror}", "check that it exists and is executable"
        ) from error
    output: list[str] = []
    with child:
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


def _wait(child: subprocess.Popen[str]) -> tuple[int, int]:
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    # Why: macOS counts bytes, Linux KiB.
    return child.returncode, usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)
