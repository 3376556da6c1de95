"""The judge's side of a judged process: it is asked, waited for so long, and ended."""

from __future__ import annotations

import json
import secrets
import select
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fictl.errors import FictlError
from fictl.judge.fault import NO_VERDICT, JudgeFault
from fictl.judge.process.channel import LONGEST, TOKEN
from fictl.judge.process.log import Printed
from fictl.judge.process.supervisor import ENDED, HOLD, NEVER_BEGAN, RELEASE, SURVEY
from fictl.process import ending

_PATIENCE = 10.0
# Of a MiB at most: a pipe holds no more of what is over, and what is not may go on for ever.
_LAST_WORDS = 8


class Ended(FictlError):
    """The judged process has ended before it answered."""


class Hung(FictlError):
    """It did not answer in the time that it had."""


class Forged(FictlError):
    """It said what no honest process says: another's answer, or one that was not asked for."""


@dataclass(frozen=True)
class Ends:
    """The judge's ends of the sockets of one process."""

    control: socket.socket
    channel: socket.socket
    post: socket.socket
    watch: socket.socket

    def close(self) -> None:
        for each in (self.control, self.channel, self.post, self.watch):
            each.close()


@dataclass(frozen=True)
class Survey:
    """`left` are processes that it has started and that run now; `signals` are bits of signals that
    it catches, ignores and blocks.
    """

    left: tuple[str, ...]
    signals: dict[str, int]


class SandboxedProcess:
    """One judged process. `policy` names what it is behind."""

    def __init__(self, ends: Ends, log: int, policy: str) -> None:
        self.ends, self.printed = ends, Printed(log)
        self._control, self._channel = ends.control, ends.channel
        self.policy, self.log = policy, self.printed.log
        self._heard = bytearray()
        self._status: int | None = None
        self._supervisor_has_gone = False
        self._channel.setblocking(False)

    def ask(
        self, request: dict[str, Any], seconds: float, beside: SandboxedProcess | None = None
    ) -> dict[str, Any]:
        """Its answer; Ended, Hung or Forged where there is no honest one.

        What one `beside` prints meanwhile is heard.
        """
        deadline = time.monotonic() + seconds
        return self.answer(self.tell(request, deadline), deadline, beside)

    def tell(self, request: dict[str, Any], deadline: float) -> str:
        """The token that its answer repeats; deadlines are on the monotonic clock."""
        token = secrets.token_hex(8)
        self._hear()
        if self._heard:
            raise Forged("it spoke before it was asked")
        self._tell(json.dumps({**request, TOKEN: token}).encode() + b"\n", deadline)
        return token

    def answer(
        self, token: str, deadline: float, beside: SandboxedProcess | None = None
    ) -> dict[str, Any]:
        seconds = deadline - time.monotonic()
        while b"\n" not in self._heard:
            self._wait(deadline, seconds, beside=beside)
        line, _, rest = bytes(self._heard).partition(b"\n")
        self._heard.clear()
        if rest:
            raise Forged("it answered more than once")
        return _answer(line, token)

    def introduce(self, other: SandboxedProcess) -> None:
        """Hand on to this process the way to turns with the other, and to who watches that."""
        ends = other.ends
        with suppress(OSError):  # That it has ended shows when it is asked.
            socket.send_fds(self.ends.post, [b"it"], [ends.post.fileno(), ends.watch.fileno()])
        ends.post.close()
        ends.watch.close()

    def survey(self) -> Survey | None:
        """It, seen from outside; None if nobody sees."""
        said = self._ask_supervisor(SURVEY)
        return Survey(tuple(said["left"]), said["signals"]) if said else None

    @contextmanager
    def held(self) -> Iterator[None]:
        """It takes no CPU meanwhile, whatever it has started."""
        self._ask_supervisor(HOLD)
        try:
            yield
        finally:
            self._ask_supervisor(RELEASE)

    def close(self) -> None:
        """With all that it has started; when this returns, it has gone."""
        with suppress(OSError):
            self._control.send(b"end")
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
        """What it does not read does not hold the judge up."""
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
        logs = [each.printed for each in (self, beside) if each is not None]
        for each in logs:
            if each.is_open:
                watched.register(each.handle, select.POLLIN)
        ready = dict(watched.poll(min(left, 1.0) * 1e3))
        for each in logs:
            if each.handle in ready:
                each.hear()
        if ready.get(self._channel.fileno(), 0) & ~select.POLLOUT and not self._hear():
            raise self._end()

    def _hear(self) -> bool:
        """False at the end of what it says."""
        with suppress(BlockingIOError):
            while part := self._receive():
                self._heard += part
                if len(self._heard) > LONGEST:
                    raise Forged(f"it answered with more than {LONGEST >> 20} MiB")
            return False
        return True

    def _receive(self) -> bytes:
        try:
            return self._channel.recv(1 << 20)
        except ConnectionError:
            return b""

    def _end(self) -> FictlError:
        """Why nothing more comes: Ended, unless it is the judge's own fault."""
        for _ in range(_LAST_WORDS):
            self.printed.hear()
        said = self._ask_supervisor("") if self._status is None else {}
        if said.get("kind") == ENDED:
            self._status = int(said["status"])
        if self._status == NEVER_BEGAN:
            why = self.log.take().strip()[-500:] or "nobody knows why"
            return JudgeFault("the sandbox of a judged process could not be built", why)
        if self._status is not None:
            return Ended(f"its process ended with {ending(self._status)}")
        if self._supervisor_has_gone:
            return JudgeFault("the process that watches a judged one has gone", NO_VERDICT)
        return Ended("it closed the connection to the judge")

    def _ask_supervisor(self, what: str) -> dict[str, Any]:
        """With nothing to ask: what it has to tell by itself, for a moment."""
        with suppress(OSError, ValueError):
            if what:
                self._control.send(what.encode())
            self._control.settimeout(_PATIENCE if what else 1.0)
            while said := self._control.recv(1 << 16):
                heard: dict[str, Any] = json.loads(said)
                if heard["kind"] == ENDED:
                    self._status = int(heard["status"])
                if not what or heard["kind"] == what:
                    return heard
            self._supervisor_has_gone = True
        return {}


def _answer(line: bytes, token: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        raise Forged(f"its answer is no JSON: {line[:80]!r}") from None
    if not isinstance(said, dict) or said.pop(TOKEN, None) != token:
        raise Forged(f"it answered what was not asked: {line[:80]!r}")
    return said
