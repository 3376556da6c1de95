"""Watcher of a pytest process: reports its progress, and ends it when a test times out."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from fictl.testing.runner.journal import Journal

Told = Callable[[Journal], object]

_POLL_SECONDS = 0.1
# Timeout outside of tests: to collect them, and to exit.
_PATIENCE_SECONDS = 300.0


@contextmanager
def watched(journal: Journal, limit: float, told: Told) -> Iterator[threading.Event]:
    """Watch the journal while the body runs.

    The event is set if the process was killed because a test took more than `limit` seconds.
    Processes started by its tests are always killed with it.
    """
    late, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=_look, args=(journal, limit, told, late, done), daemon=True)
    thread.start()
    try:
        yield late
    finally:
        done.set()
        thread.join()
        journal.read()
        _end(journal)


def _look(
    journal: Journal, limit: float, told: Told, late: threading.Event, done: threading.Event
) -> None:
    since = time.monotonic()
    while not done.wait(_POLL_SECONDS):
        if journal.read():
            since = time.monotonic()
        told(journal)
        patience = limit if journal.running else max(limit, _PATIENCE_SECONDS)
        if journal.processes and time.monotonic() - since > patience:
            late.set()
            _end(journal)


def _end(journal: Journal) -> None:
    for process in journal.processes.values():
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
