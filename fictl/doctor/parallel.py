"""Independent questions asked side by side, none of which can hold up or break the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")


def at_once(jobs: Mapping[str, Callable[[], T]], seconds: float) -> dict[str, T | Exception]:
    """The result or the error of each; what does not end in time is a TimeoutError.

    Daemon threads, because a call that a broken driver never answers must not keep the process.
    """
    results: dict[str, T | Exception] = {}

    def run(name: str, job: Callable[[], T]) -> None:
        try:
            results[name] = job()
        except Exception as error:
            results[name] = error

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in jobs.items()]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    late = TimeoutError(f"no answer within {seconds:g} s")
    return {name: results.get(name, late) for name in jobs}
