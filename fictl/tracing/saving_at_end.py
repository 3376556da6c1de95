"""Writes what is held when the program ends, by itself or by SIGTERM; not in its forked children."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

_registered: list[Callable[[], None]] = []


def save_at_end(save: Callable[[], None], forget: Callable[[], None]) -> None:
    """Register `save` once for the end of the program, and `forget` for children that it forks.

    SIGTERM saves, then ends the program as before, unless the program handles it itself.
    """
    if save in _registered:
        return
    is_first = not _registered
    _registered.append(save)
    atexit.register(save)
    os.register_at_fork(after_in_child=forget)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_first or not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        try:
            for registered in _registered:
                registered()
        finally:
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, end)
