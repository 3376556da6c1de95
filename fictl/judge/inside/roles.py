"""The roles of sandboxed processes, and the module that serves each."""

from __future__ import annotations

import importlib
import threading
from typing import NoReturn

from fictl.judge.inside import heap, ordering
from fictl.judge.process.channel import Channel

SOLUTION, REFERENCE, BUILDER = "solution", "reference", "builder"
_PARTS = {
    SOLUTION: "fictl.judge.inside.solution_server",
    REFERENCE: "fictl.judge.inside.referee",
    BUILDER: "fictl.judge.inside.order_server",
}
_ALSO = (
    "torch",
    "fictl.runnable.registry",
    "fictl.timing.cupti",
    # Solutions that are exported from ops import these.
    "fictl.op.decorator",
    "fictl.op.foreign.called",
)


def preload() -> None:
    """Import what the roles need before the first fork, and snapshot it against tampering."""
    for name in (*_ALSO, *_PARTS.values()):
        importlib.import_module(name)
    importlib.import_module("fictl.runnable.discovered").shipped()
    _start_a_thread()
    importlib.import_module("fictl.judge.inside.integrity").taken()


def _start_a_thread() -> None:
    """Have the C library install the signal handlers of its own that come with a first thread: on one
    core nothing else may have started any, and a solution that does is not to blame for them.
    """
    first = threading.Thread(target=int)
    first.start()
    first.join()


def run(role: str, channel: Channel, post: int, orders: int) -> NoReturn:
    """Serve a role; `post` carries the sockets of the referee, or the turns. A builder has nobody to
    order from.
    """
    if role != BUILDER:
        heap.keep_all()
        ordering.order_by(orders)
    importlib.import_module(_PARTS[role]).run(channel, post)
    raise AssertionError("it does not return")
