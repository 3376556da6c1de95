"""A signal's handler that also runs where the main thread has just gone to sleep.

Python runs handlers in the main thread, between two of its instructions. A signal that comes after the
last of these and before a blocking call is noted, and handled only when the call ends, if it does.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

_AGAIN_SECONDS = 0.1

Handler = Callable[[int, FrameType | None], object]


def handle_surely(number: signal.Signals, handler: Handler) -> None:
    """Have the main thread, which calls this, run `handler` soon after the signal, once."""
    handled = threading.Event()
    main = threading.get_ident()

    def once(received: int, frame: FrameType | None) -> None:
        if not handled.is_set():
            handled.set()
            handler(received, frame)

    def wake() -> None:
        os.read(noted, 1)
        while not handled.wait(_AGAIN_SECONDS):
            signal.pthread_kill(main, number)  # Interrupts what it waits for.

    noted, writes = os.pipe()
    os.set_blocking(writes, False)
    signal.signal(number, once)
    signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    threading.Thread(target=wake, daemon=True).start()
