"""The judge's side of a sandboxed process: requests with deadlines, and its end."""

from __future__ import annotations

import json
import secrets
import select
import socket
import time
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fictl.errors import FictlError
from fictl.judge.fault import NO_VERDICT, JudgeFault
from fictl.judge.process.channel import LONGEST, TOKEN
from fictl.judge.process.log import Printed
from fictl.judge.process.order_desk import NotBuilt, OrderDesk
from fictl.judge.process.supervisor import (
    ENDED,
    GO_ON,
    HOLD,
    NEVER_BEGAN,
    RELEASE,
    STOP,
    SURVEY,
)
from fictl.process import ending

_PATIENCE = 10.0
# Reads of at most 1 MiB: a finished process left no more in its pipe; others may print without end.
_LAST_WORDS = 8


class Ended(FictlError):
    """The process ended before it answered."""


class Hung(FictlError):
    """The process did not answer in time."""


class Forged(FictlError):
    """The process sent a message that no honest process sends: an unrequested answer, or a second
    one.
    """


@dataclass(frozen=True)
class Ends:
    """The judge's ends of the sockets of one process."""

    control: socket.socket
    channel: socket.socket
    post: socket.socket
    watch: socket.socket
    orders: socket.socket

    def close(self) -> None:
        for end in (self.control, self.channel, self.post, self.watch, self.orders):
            end.close()


@dataclass(frozen=True)
class Survey:
    """`left` are running processes that it started; `signals` are bits of the signals that it
    catches, ignores and blocks.
    """

    left: tuple[str, ...]
    signals: dict[str, int]


class SandboxedProcess:
    """A running process. `policy` names the parts of its sandbox."""

    def __init__(self, ends: Ends, log: int, policy: str) -> None:
        self.ends, self.printed = ends, Printed(log)
        self._control, self._channel = ends.control, ends.channel
        self.policy, self.log = policy, self.printed.log
        self.desk = OrderDesk(ends.orders)
        self._heard = bytearray()
        self._status: int | None = None
        self._supervisor_has_gone = False
        self._goes_on = False
        self._channel.setblocking(False)

    def ask(
        self, request: dict[str, Any], seconds: float, beside: SandboxedProcess | None = None
    ) -> dict[str, Any]:
        """Return the answer; raise Ended, Hung or Forged if no honest answer comes.

        The output of the process `beside` is read meanwhile.
        """
        deadline = time.monotonic() + seconds
        return self.answer(self.tell(request, deadline), deadline, beside)

    def tell(self, request: dict[str, Any], deadline: float) -> str:
        """Send a request and return the token of its answer. `deadline` is on the
        monotonic clock.
        """
        if self.desk.waits_for:  # It is being ended, and may be quicker than that.
            raise NotBuilt(self.desk.waits_for)
        token = secrets.token_hex(8)
        self._hear()
        if self._heard:
            raise Forged("a message before any request")
        self._tell(json.dumps({**request, TOKEN: token}).encode() + b"\n", deadline)
        return token

    def answer(
        self, token: str, deadline: float, beside: SandboxedProcess | None = None
    ) -> dict[str, Any]:
        """Wait for the answer that carries `token`."""
        seconds = deadline - time.monotonic()
        while b"\n" not in self._heard:
            self._wait(deadline, seconds, beside=beside)
        line, _, rest = bytes(self._heard).partition(b"\n")
        self._heard.clear()
        if rest:
            raise Forged("more than one answer")
        return _answer(line, token)

    def has_answered(self) -> bool:
        """Tell, without waiting, whether there is an answer, or the end of the connection."""
        self.printed.hear()
        return not self._hear() or b"\n" in self._heard

    def introduce(self, other: SandboxedProcess) -> None:
        """Give this process the other's sockets for turns and for questions to its supervisor."""
        ends = other.ends
        with suppress(OSError):  # If it has ended, the next request shows it.
            socket.send_fds(self.ends.post, [b"it"], [ends.post.fileno(), ends.watch.fileno()])
        ends.post.close()
        ends.watch.close()

    def survey(self) -> Survey | None:
        """Ask the supervisor what the process left running; None if the supervisor has gone."""
        report = self._ask_supervisor(SURVEY)
        return Survey(tuple(report["left"]), report["signals"]) if report else None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Stop the process and all its descendants for the time of the block."""
        self._ask_supervisor(HOLD)
        try:
            yield
        finally:
            self._ask_supervisor(RELEASE)

    def stop_soon(self) -> None:
        """Have all of its processes stopped, even if they are just being started; `has_stopped` waits."""
        if self._goes_on:
            # Its answer comes behind all earlier ones: none of those is taken for new.
            self._ask_supervisor(GO_ON, is_asked=True)
            self._goes_on = False
        with suppress(OSError):
            self._control.send(STOP.encode())

    def has_stopped(self) -> bool:
        """Wait until none of its threads runs; False if one still does, or if its supervisor has gone."""
        return bool(self._ask_supervisor(STOP, is_asked=True).get("stopped"))

    def go_on(self) -> None:
        """Let its processes go on, without waiting for that."""
        self._goes_on = True
        with suppress(OSError):
            self._control.send(GO_ON.encode())

    def close(self) -> None:
        """End the process with all its descendants; they have gone when this returns."""
        self.end_soon()
        with suppress(OSError):
            self._control.settimeout(_PATIENCE)
            while self._control.recv(1 << 16):
                pass
        self.printed.hear()
        self.ends.close()
        self.printed.close()

    def __enter__(self) -> SandboxedProcess:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _tell(self, data: bytes, deadline: float) -> None:
        """Write without blocking: a process that does not read cannot hold up the judge."""
        view = memoryview(data)
        while view:
            try:
                view = view[self._channel.send(view) :]
            except BlockingIOError:
                self._wait(deadline, deadline - time.monotonic(), writing=True)
            except OSError:
                raise self._end() from None

    def _wait(
        self,
        deadline: float,
        seconds: float,
        *,
        writing: bool = False,
        beside: SandboxedProcess | None = None,
    ) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise Hung(f"it did not answer within {seconds:g} s")
        watched = select.poll()
        watched.register(self._channel, select.POLLIN | (select.POLLOUT if writing else 0))
        processes = [process for process in (self, beside) if process is not None]
        for process in processes:
            process.watch_by(watched)
        ready = dict(watched.poll(min(left, 1.0) * 1e3))
        for process in processes:
            process.take(ready)
        if ready.get(self._channel.fileno(), 0) & ~select.POLLOUT and not self._hear():
            raise self._end()

    def watch_by(self, watched: select.poll) -> None:
        """Have output and orders noticed."""
        if self.printed.is_open:
            watched.register(self.printed.handle, select.POLLIN)
        if self.desk.is_open and not self.desk.waits_for:
            watched.register(self.desk, select.POLLIN)

    def take(self, ready: Container[int]) -> None:
        """Read output and orders. A process that has to wait for a build is ended."""
        if self.printed.handle in ready:
            self.printed.hear()
        if self.desk.is_open and self.desk.fileno() in ready and not self.desk.hear():
            self.end_soon()

    def end_soon(self) -> None:
        """Have the process ended, with all its descendants; `close` waits for that."""
        with suppress(OSError):
            self._control.send(b"end")

    def _hear(self) -> bool:
        """Read the available data. Return False if the connection was closed."""
        with suppress(BlockingIOError):
            while part := self._receive():
                self._heard += part
                if len(self._heard) > LONGEST:
                    raise Forged(f"an answer of more than {LONGEST >> 20} MiB")
            return False
        return True

    def _receive(self) -> bytes:
        try:
            return self._channel.recv(1 << 20)
        except ConnectionError:
            return b""

    def _end(self) -> FictlError:
        """Explain why the process stopped answering: Ended, NotBuilt, or a fault of the judge."""
        if self.desk.waits_for:
            return NotBuilt(self.desk.waits_for)
        for _ in range(_LAST_WORDS):
            self.printed.hear()
        report = self._ask_supervisor("") if self._status is None else {}
        if report.get("kind") == ENDED:
            self._status = int(report["status"])
        if self._status == NEVER_BEGAN:
            why = self.log.take().strip()[-500:] or "it printed no reason"
            return JudgeFault("the sandbox of a process could not be set up", why)
        if self._status is not None:
            return Ended(f"its process ended with {ending(self._status)}")
        if self._supervisor_has_gone:
            return JudgeFault("the supervisor of a sandboxed process has ended", NO_VERDICT)
        return Ended("it closed the connection to the judge")

    def _ask_supervisor(self, what: str, *, is_asked: bool = False) -> dict[str, Any]:
        """Return the supervisor's answer, to an earlier question if it `is_asked`; for an empty one, its
        unrequested report of the end.
        """
        with suppress(OSError, ValueError):
            if what and not is_asked:
                self._control.send(what.encode())
            self._control.settimeout(_PATIENCE if what else 1.0)
            while data := self._control.recv(1 << 16):
                report: dict[str, Any] = json.loads(data)
                if report["kind"] == ENDED:
                    self._status = int(report["status"])
                if report["kind"] == (what or ENDED):
                    return report
            self._supervisor_has_gone = True
        return {}


def _answer(line: bytes, token: str) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise Forged(f"an answer that is not JSON: {line[:80]!r}") from None
    if not isinstance(message, dict) or message.pop(TOKEN, None) != token:
        raise Forged(f"an answer to no request: {line[:80]!r}")
    return message
