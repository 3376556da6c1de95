"""Independent jobs in parallel, none of which can delay or break the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")


def at_once(jobs: Mapping[str, Callable[[], T]], seconds: float) -> dict[str, T | Exception]:
    """Run the jobs and return the result or the error of each; a TimeoutError for a late one.

    The threads are daemons, because a call that hangs in a broken driver must not keep the process.
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
