"""The connection between the referee and a solution's process: small messages with handles."""

from __future__ import annotations

import array
import json
import os
import select
import socket
import time
from contextlib import suppress
from typing import Any

# Bound before a solution is loaded, so that a replacement by the solution is never called.
_NOW = time.perf_counter
_LONGEST, _ROOM = 1 << 16, socket.CMSG_SPACE(4 * 4)
# Poll this long before sleeping: waking up takes as long.
_SPIN_SECONDS = 400e-6


class Closed(Exception):
    """The other end was closed."""


class Late(Exception):
    """No message came in time."""


class Garbled(Exception):
    """A message does not follow the protocol."""


class Wire:
    """One end of a pair of sockets that keep messages apart."""

    def __init__(self, handle: int) -> None:
        self._socket = socket.socket(fileno=handle)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)

    def send(self, message: dict[str, Any], handles: tuple[int, ...] = ()) -> None:
        try:
            socket.send_fds(self._socket, [json.dumps(message).encode()], [*handles])
        except OSError as error:
            raise Closed from error

    def receive(self, deadline: float | None = None) -> tuple[dict[str, Any], list[int]]:
        """Return a message and its handles, which the caller closes; `deadline` as perf_counter."""
        until = _NOW() + _SPIN_SECONDS
        while _NOW() < until:
            with suppress(BlockingIOError):
                return self._take(socket.MSG_DONTWAIT)
        while not self._poll.poll(None if deadline is None else _left(deadline)):
            if deadline is not None and _NOW() >= deadline:
                raise Late
        return self._take(0)

    def is_quiet(self) -> bool:
        """Tell whether no unexpected message has come."""
        return not self._poll.poll(0)

    def is_closed(self) -> bool:
        """Tell whether the other end has gone."""
        return any(event & select.POLLHUP for _, event in self._poll.poll(0))

    def close(self) -> None:
        self._socket.close()

    def _take(self, flags: int) -> tuple[dict[str, Any], list[int]]:
        try:
            data, more, _, _ = self._socket.recvmsg(
                _LONGEST, _ROOM, flags | socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            raise
        except OSError as error:
            raise Closed from error
        handles = _handles(more)
        try:
            return _message(data), handles
        except (Closed, Garbled):
            for handle in handles:
                os.close(handle)
            raise


def _handles(more: list[tuple[int, int, bytes]]) -> list[int]:
    handles = array.array("i")
    for level, kind, data in more:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            handles.frombytes(data[: len(data) // handles.itemsize * handles.itemsize])
    return [*handles]


def _message(data: bytes) -> dict[str, Any]:
    if not data:
        raise Closed
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise Garbled(f"{data[:80]!r}") from None
    if not isinstance(message, dict):
        raise Garbled(f"{data[:80]!r}")
    return message


def _left(deadline: float) -> float:
    """Milliseconds to wait, at most a second, so that long waits check the clock regularly."""
    return min(1e3, max(0.0, (deadline - _NOW()) * 1e3) + 0.1)
