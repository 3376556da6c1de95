"""Orders of a sandboxed process: it asks for builds, and never learns of those that others ordered."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import FictlError
from fictl.jit.order import Order, key_of
from fictl.judge.process.parcel import packed, unpacked

_LARGEST = 32 << 20
# A process that orders more builds them itself.
_MOST_ORDERS = 256
_LINE = 1 << 16
_LONGEST_TEXT = 16 << 10


class NotBuilt(FictlError):
    """The process waits for a build that nobody has begun, or ended: it was ended meanwhile."""

    def __init__(self, key: str) -> None:
        super().__init__("a build of the solution is not ready yet")
        self.key = key


@dataclass(frozen=True)
class Delivery:
    """The end of a build: its module, or why there is none. `is_own`: the process builds itself."""

    module: Path | None = None
    seconds: float = 0.0
    first: str = ""
    hint: str = ""
    log: str = ""
    is_own: bool = False


OWN = Delivery(is_own=True)
# Returns None where the build is not ready.
Deliver = Callable[[str, Order], "Delivery | None"]


class OrderDesk:
    """The judge's end. Bytes of an order decide its key: the process has no word in that."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._end.setblocking(False)
        self._deliver: Deliver | None = None
        self._count = 0
        self.waits_for = ""
        self.is_open = True
        self.seconds = 0.0  # How long what it was given took to build.

    def open(self, deliver: Deliver) -> None:
        self._deliver = deliver

    def fileno(self) -> int:
        return self._end.fileno()

    def hear(self) -> bool:
        """Answer an order; return False if the process has to wait for a build."""
        try:
            self._answer(self._order())
        except BlockingIOError:
            pass
        except (OSError, ValueError, RecursionError):  # It has gone, or speaks another language.
            self.close()
        return not self.waits_for

    def close(self) -> None:
        self.is_open = False
        self._end.close()

    def _order(self) -> Order:
        line, handles, _, _ = socket.recv_fds(self._end, _LINE, 8)
        try:
            if not line or len(handles) != 1:
                raise ValueError("no order")
            order = json.loads(unpacked(handles.pop(), _LARGEST))
        finally:
            for handle in handles:
                os.close(handle)
        if not isinstance(order, dict):
            raise ValueError("no order")  # noqa: TRY004  # as for any other bytes
        return order

    def _answer(self, order: Order) -> None:
        self._count += 1
        key, delivery = key_of(order), OWN
        if self._deliver is not None and self._count <= _MOST_ORDERS:
            ready = self._deliver(key, order)
            if ready is None:
                self.waits_for = key
                return
            delivery = ready
            self.seconds += ready.seconds
        self._send(delivery)

    def _send(self, delivery: Delivery) -> None:
        parcels: list[int] = []
        if delivery.module is not None:
            with delivery.module.open("rb") as file:
                parcels.append(packed(file))
        words = {
            "own": delivery.is_own,
            "seconds": delivery.seconds,
            **{name: getattr(delivery, name)[:_LONGEST_TEXT] for name in ("first", "hint")},
            "log": delivery.log[-_LONGEST_TEXT:],
        }
        try:
            socket.send_fds(self._end, [json.dumps(words).encode()], parcels)
        finally:
            for parcel in parcels:
                with suppress(OSError):
                    os.close(parcel)
