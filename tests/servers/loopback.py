"""An HTTP/1.1 server on loopback in a thread of its own, whose answers can be broken in every way."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

HOST = "127.0.0.1"
_REASONS = {200: "OK", 204: "No Content", 302: "Found", 403: "Forbidden", 404: "Not Found"}


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def __str__(self) -> str:
        return f"{self.method} {self.target}"

    @property
    def line(self) -> str:
        """Method, path and query, as people read them."""
        return f"{self.method} {unquote(self.target)}"

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, str]:
        parameters = parse_qs(urlsplit(self.target).query, keep_blank_values=True)
        return {name: values[0] for name, values in parameters.items()}

    def encode(self, **headers: str) -> bytes:
        return _encode(f"{self} HTTP/1.1", {**self.headers, **headers}) + self.body


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def encode(self, request: Request) -> bytes:
        length = {} if "content-length" in self.headers else {"content-length": str(len(self.body))}
        line = f"HTTP/1.1 {self.status} {_REASONS.get(self.status, 'Other')}"
        body = b"" if request.method == "HEAD" else self.body
        return _encode(line, {**self.headers, **length}) + body


class Exchange:
    """A request, and the connection that waits for its answer."""

    def __init__(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.request = request
        self._reader, self._writer = reader, writer

    async def answer(self, response: Response) -> None:
        await self.send(response.encode(self.request))

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def closed(self) -> None:
        """Wait until the client gives up."""
        while await self._reader.read(65536):
            pass

    def abort(self) -> None:
        """Reset the connection."""
        self._writer.transport.abort()


Handler = Callable[[Exchange], Awaitable[None]]


class Server:
    """Serves until it is stopped, which ends every connection."""

    def __init__(self, handle: Handler, tls: ssl.SSLContext | None = None) -> None:
        self._handle = handle
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._connected, HOST, 0, ssl=tls))
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.scheme = "https" if tls else "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{HOST}:{self.port}"

    def stop(self) -> None:
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        # Nobody new comes in, and those just accepted get as far as a task that closes their socket:
        # asyncio forgets the socket if the server is closed, or the task cancelled, before that.
        for listening in self._server.sockets:
            self._loop.remove_reader(listening.fileno())
        await self._settle()
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._settle()

    async def _settle(self) -> None:
        """Take the few steps of the loop in which connections are set up, or closed."""
        for _ in range(8):
            await asyncio.sleep(0)

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                await self._handle(Exchange(request, reader, writer))
        except (OSError, EOFError):
            pass  # The client is gone, or the connection was reset on purpose.
        except asyncio.CancelledError:
            pass  # Stopped. Why not raised: asyncio's callback would log it.
        finally:
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()


@contextmanager
def serving(handle: Handler, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(handle, tls)
    try:
        yield server
    finally:
        server.stop()


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request of a connection; None at its end."""
    head = await _head(reader)
    if head is None:
        return None
    (method, target, _), headers = head
    return Request(method, target, headers, await _body(reader, headers, unsized=False))


async def fetch(host: str, port: int, request: Request) -> Response:
    """Return the answer of another server, on a connection of its own."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(request.encode(connection="close"))
        await writer.drain()
        head = await _head(reader)
        if head is None:
            raise EOFError(f"no answer to {request}")
        (_, status, _), headers = head
        empty = request.method == "HEAD" or status in {"204", "304"}
        body = b"" if empty else await _body(reader, headers, unsized=True)
        kept = {name: value for name, value in headers.items() if name not in _HOP_BY_HOP}
        return Response(int(status), kept, body)
    finally:
        writer.close()


_HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive"}


async def _head(reader: asyncio.StreamReader) -> tuple[list[str], dict[str, str]] | None:
    try:
        text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = text.split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return [*first.split(" ", 2), ""][:3], headers


async def _body(reader: asyncio.StreamReader, headers: dict[str, str], *, unsized: bool) -> bytes:
    if headers.get("transfer-encoding") == "chunked":
        return b"".join([chunk async for chunk in _chunks(reader)])
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    return await reader.read() if unsized else b""


async def _chunks(reader: asyncio.StreamReader):
    while size := int(await reader.readline(), 16):
        yield await reader.readexactly(size)
        await reader.readline()
    await reader.readline()


def _encode(line: str, headers: dict[str, str]) -> bytes:
    lines = [line, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")
