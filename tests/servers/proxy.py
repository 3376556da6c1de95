"""A proxy that counts requests, slows them down, and spoils the answers that a test names."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from .loopback import Exchange, Request, Response, Server, fetch

Forward = Callable[[], Awaitable[Response]]
Fault = Callable[[Exchange, Forward], Awaitable[None]]
_BLOCK = 1 << 16


@dataclass
class _Rule:
    fault: Fault
    pattern: re.Pattern[str]
    skip: int
    times: float

    def applies(self, request: Request) -> bool:
        """Count a request that matches; true if its turn to fail has come."""
        if not self.pattern.search(request.line):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return self.times >= 0


class Proxy:
    """Forwards to `upstream` (a URL); `requests` has what was asked for, in order."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._host, self._port = parts.hostname or "", parts.port or 0
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self.latency = 0.0
        self._server = Server(self._handle)
        self.url = self._server.url

    @property
    def requests(self) -> list[str]:
        """The line of every request since `forget()`, those that failed included."""
        with self._lock:
            return [request.line for request in self._requests]

    def count(self, pattern: str) -> int:
        return sum(bool(re.search(pattern, request)) for request in self.requests)

    def forget(self) -> None:
        with self._lock:
            self._requests.clear()

    def fail(
        self, fault: Fault, pattern: str = "", *, skip: int = 0, times: float = float("inf")
    ) -> None:
        """Answer requests whose line ("GET /path?query") matches by `fault`, after `skip` of them."""
        self._rules.append(_Rule(fault, re.compile(pattern), skip, times))

    def heal(self) -> None:
        self._rules.clear()

    def stop(self) -> None:
        self._server.stop()

    async def _handle(self, exchange: Exchange) -> None:
        request = exchange.request
        with self._lock:
            self._requests.append(request)
        await asyncio.sleep(self.latency)

        async def forward() -> Response:
            return await fetch(self._host, self._port, request)

        for rule in self._rules:
            if rule.applies(request):
                await rule.fault(exchange, forward)
                return
        await exchange.answer(await forward())


@contextmanager
def proxy_of(upstream: str) -> Iterator[Proxy]:
    proxy = Proxy(upstream)
    try:
        yield proxy
    finally:
        proxy.stop()


async def hang(exchange: Exchange, forward: Forward) -> None:
    """Never answer."""
    await exchange.closed()


async def reset(exchange: Exchange, forward: Forward) -> None:
    """Close the connection without a word."""
    exchange.abort()


def status(code: int, body: bytes = b"") -> Fault:
    """Refuse, without asking upstream."""

    async def fault(exchange: Exchange, forward: Forward) -> None:
        await exchange.answer(Response(code, body=body))

    return fault


def redirect(url: str, code: int = 302) -> Fault:
    """Send the client elsewhere."""

    async def fault(exchange: Exchange, forward: Forward) -> None:
        await exchange.answer(Response(code, {"location": url}))

    return fault


def cut(after: int) -> Fault:
    """Reset the connection once `after` bytes of the body are sent."""

    async def fault(exchange: Exchange, forward: Forward) -> None:
        encoded = (await forward()).encode(exchange.request)
        head = encoded.index(b"\r\n\r\n") + 4
        await exchange.send(encoded[: head + after])
        exchange.abort()

    return fault


def trickle(seconds: float) -> Fault:
    """Send the body byte by byte, so slowly that no pause between two is suspicious."""

    async def fault(exchange: Exchange, forward: Forward) -> None:
        encoded = (await forward()).encode(exchange.request)
        head = encoded.index(b"\r\n\r\n") + 4
        await exchange.send(encoded[:head])
        for index in range(head, len(encoded)):
            await exchange.send(encoded[index : index + 1])
            await asyncio.sleep(seconds)

    return fault


def replace(change: Callable[[bytes], bytes]) -> Fault:
    """Answer with other bytes, whose length the header gives truthfully."""

    async def fault(exchange: Exchange, forward: Forward) -> None:
        response = await forward()
        headers = {name: value for name, value in response.headers.items() if name != "etag"}
        headers.pop("content-length", None)
        await exchange.answer(Response(response.status, headers, change(response.body)))

    return fault


def flip(at: int = -1) -> Fault:
    """Change one bit of the body."""

    def changed(body: bytes) -> bytes:
        data = bytearray(body)
        data[at] ^= 1
        return bytes(data)

    return replace(changed)


def shorten(to: int) -> Fault:
    """Send the first bytes only, as if that were all."""
    return replace(lambda body: body[:to])


def claim(length: int) -> Fault:
    """Give a length that the body does not have, and leave the connection open."""

    async def fault(exchange: Exchange, forward: Forward) -> None:
        response = await forward()
        headers = {**response.headers, "content-length": str(length)}
        await exchange.answer(Response(response.status, headers, response.body))
        await exchange.closed()

    return fault


class Endless:
    """Send zeros until the client has enough; `sent` bytes in all."""

    def __init__(self, length: int | None = None) -> None:
        self.length, self.sent = length, 0

    async def __call__(self, exchange: Exchange, forward: Forward) -> None:
        size = "" if self.length is None else f"content-length: {self.length}\r\n"
        head = f"HTTP/1.1 200 OK\r\nconnection: close\r\n{size}\r\n"
        await exchange.send(head.encode())
        while True:
            await exchange.send(bytes(_BLOCK))
            self.sent += _BLOCK


def around(
    before: Callable[[], None] = lambda: None, after: Callable[[], None] = lambda: None
) -> Fault:
    """Call a function before the request reaches upstream, and one after it did; others go on."""

    async def fault(exchange: Exchange, forward: Forward) -> None:
        await asyncio.to_thread(before)
        response = await forward()
        await asyncio.to_thread(after)
        await exchange.answer(response)

    return fault
