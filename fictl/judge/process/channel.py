"""The sandboxed process's end of its connection to the judge: a line of JSON each way, in turn."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

Answer = dict[str, Any]
# Largest message in bytes: it may contain sources and a log.
LONGEST = 64 << 20
TOKEN = "token"  # noqa: S105  # the name of a field


class Channel:
    """Reads requests and sends answers. An answer repeats its request's token: all others are
    forged.
    """

    def __init__(self, handle: int) -> None:
        self._socket = socket.socket(fileno=handle)
        self._lines = self._socket.makefile("rb")

    def requests(self) -> Iterator[dict[str, Any]]:
        for line in self._lines:
            yield json.loads(line)

    def answer(self, request: dict[str, Any], answer: Answer) -> None:
        text = json.dumps({TOKEN: request[TOKEN], **answer})
        self._socket.sendall(text.encode() + b"\n")


def serve(
    channel: Channel, answer: Callable[[dict[str, Any]], Answer], leave: Callable[[int], NoReturn]
) -> NoReturn:
    """Answer requests until the judge closes the connection; `leave` then ends the
    process at once.
    """
    for request in channel.requests():
        channel.answer(request, answer(request))
    leave(0)
