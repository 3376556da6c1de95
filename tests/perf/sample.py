"""Interleaved samples of two sides, their medians and their ratio."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Pair:
    """Median seconds of both sides, and the median of the ratios of neighbouring samples."""

    ours: float
    yardstick: float
    ratio: float


def interleave(
    ours: Callable[[], float],
    yardstick: Callable[[], float],
    times: int,
    *,
    over: Callable[[], float] = lambda: 0.0,
) -> Pair:
    """Each call returns seconds; the sides take turns, so that a slow spell hits both.

    `over` is subtracted from ours: what the same work costs without fictl.
    """
    samples = [(ours() - over(), yardstick()) for _ in range(times)]
    return Pair(
        statistics.median(a for a, _ in samples),
        statistics.median(b for _, b in samples),
        statistics.median(a / b for a, b in samples),
    )


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def checkout_of(env: Mapping[str, str]) -> Path:
    """The package that this environment imports: first on its path."""
    return Path(env["PYTHONPATH"].split(os.pathsep)[0])


def python(code: str, env: Mapping[str, str]) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout_of(env),
        env=dict(env),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout
