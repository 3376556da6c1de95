"""A thread of each rank that finds out why a collective does not end, while the rank waits in it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from fictl.child.codec import Malformed, from_text, to_text
from fictl.errors import FictlError
from fictl.ranks.flight import CollectiveCall, own_calls
from fictl.ranks.rank import Rank, RankProcess
from fictl.ranks.verdict import RankState, Verdict, judge

T = TypeVar("T")

# What waits for other ranks itself gives up so much later: by then the verdict is there.
LATER_SECONDS = 30.0
_TICK_SECONDS = 1.0
_POLL_SECONDS = 0.02
# How long a rank that is asked may take: its threads share one interpreter with its work, and
# torch takes seconds to read its first stack.
_ANSWER_SECONDS = 15.0
# How long the end of a process takes to be seen after its connections were closed.
_END_SECONDS = 1.0
# How long the rank that tells the verdict leaves the others to read it, as it may serve the store.
_LINGER_SECONDS = 0.3
_MOST_CALLS = 64
_ASKED, _HEARD, _TOLD = "witness/asked", "witness/heard", "witness/told"
# Errors of the main thread that another rank may have caused.
_OF_OTHERS = (
    *("timed out", "connection closed", "connection reset", "connection refused", "broken pipe"),
    *("remote process exited", "communicator was aborted"),
)

# Where a rank is in these says less than who called them.
_LIBRARIES = (
    os.path.dirname(os.__file__),
    os.path.dirname(os.path.dirname(__file__)),
    *(path for path in sys.path if path.endswith(("site-packages", "dist-packages"))),
)


class Witness:
    """Watches the calls of this rank. `tell` gets the verdict, on one rank for all.

    store: a connection of its own, as the main thread may wait in another.
    seconds: how long a call may wait for the other ranks.
    doing: what the main thread does besides the user's code, for the others to read.
    """

    def __init__(
        self, here: Rank, store: Any, seconds: float, tell: Callable[[Verdict], object]
    ) -> None:
        self._here, self._store, self._seconds, self._tell = here, store, seconds, tell
        self._since = time.time_ns()
        self._done = threading.Event()
        self._asking = threading.Lock()
        # Cleared when the store has ended, with the rank that serves it.
        self._has_store = True
        self._verdict = ""
        self._is_said = False
        self._processes: dict[int, RankProcess] = {}
        self._thread = threading.Thread(target=self._watch, name="witness", daemon=True)
        self.doing = ""

    def __enter__(self) -> Witness:
        self._store.set_timeout(timedelta(seconds=self._seconds + LATER_SECONDS))
        try:
            self._store.set(f"witness/process/{self._here.rank}", to_text(RankProcess.here()))
        except RuntimeError as error:
            raise _store_has_gone(error) from None
        self._processes = {rank: self._process_of(rank) for rank in self._here.others}
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._done.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(_ANSWER_SECONDS)

    @property
    def ended(self) -> tuple[int, ...]:
        """Ranks whose process is known to have ended."""
        return tuple(rank for rank, process in self._processes.items() if process.has_ended)

    def awaited_end(self) -> tuple[int, ...]:
        """Ranks whose process has ended, after the time that its end takes to be seen."""
        deadline = time.monotonic() + _END_SECONDS
        while not self.ended and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return self.ended

    def explain(self, error: BaseException) -> Verdict | None:
        """Say which rank caused an error of a collective; None if none of them did."""
        text = str(error).lower()
        if not isinstance(error, RuntimeError) or not any(word in text for word in _OF_OTHERS):
            return None
        calls = self._calls()
        if not calls:
            return None
        self.awaited_end()
        known = self._verdict or self._stored(lambda store: _value(store, _TOLD))
        return from_text(Verdict, known) if known else self._ask(calls[-1])

    def _process_of(self, rank: int) -> RankProcess:
        start, seconds = time.monotonic(), self._seconds + LATER_SECONDS
        try:
            return from_text(RankProcess, self._store.get(f"witness/process/{rank}").decode())
        except RuntimeError as error:
            if time.monotonic() - start < seconds / 2:
                raise _store_has_gone(error) from None
            raise FictlError(
                f"rank {rank} did not come here within {seconds:g} s",
                "every rank has to run the same tests, in one order",
            ) from None

    def _watch(self) -> None:
        while not self._done.wait(min(_TICK_SECONDS, self._seconds / 8)):
            if self._is_asked():
                self._say()
            call = self._overdue()
            if call is not None:
                self._settle(call)
                return

    def _settle(self, call: CollectiveCall) -> None:
        """Find the verdict as the first of those that wait, or keep that of the first."""
        if not self._is_first():
            self._say()
            deadline = time.monotonic() + 2 * _ANSWER_SECONDS
            while not self._verdict and self._has_store and time.monotonic() < deadline:
                self._verdict = self._stored(lambda store: _value(store, _TOLD)) or ""
                time.sleep(_POLL_SECONDS)
            return
        verdict = self._ask(call)
        self._stored(lambda store: store.set(_TOLD, to_text(verdict)))
        time.sleep(_LINGER_SECONDS)
        self._tell(verdict)

    def _overdue(self) -> CollectiveCall | None:
        """Return the first call that waits for too long, or for a rank that has ended."""
        now = time.time_ns()
        for call in own_calls(self._since, where=False):
            if not call.is_done and (now - call.began > self._seconds * 1e9 or self.ended):
                return self._still_waits(call)
        return None

    def _still_waits(self, call: CollectiveCall) -> CollectiveCall | None:
        """Look again, with the places in the code: it may have ended meanwhile."""
        again = (own for own in self._calls() if (own.began, own.name) == (call.began, call.name))
        return next((own for own in again if not own.is_done), None)

    def _is_first(self) -> bool:
        """True on the rank that asks; where the store has ended with its rank, on each."""
        return bool(self._stored(lambda store: store.add(_HEARD, 1) == 1, instead=True))

    def _ask(self, call: CollectiveCall) -> Verdict:
        """Ask all ranks for their calls, and judge."""
        with self._asking:
            states: dict[int, RankState | None] = {self._here.rank: self._state()}
            self._stored(lambda store: store.set(_ASKED, "1"))
            deadline = time.monotonic() + _ANSWER_SECONDS
            while not self._have_answered() and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
            states |= {rank: self._answer(rank) for rank in self._here.others}
        return judge(states, (self._here.rank, call), self.ended)

    def _have_answered(self) -> bool:
        """True if nothing more can be awaited of any rank."""
        left = [_state_key(rank) for rank in self._here.others if rank not in self.ended]
        return bool(self._stored(lambda store: store.check(left), instead=True))

    def _answer(self, rank: int) -> RankState | None:
        text = self._stored(lambda store: _value(store, _state_key(rank)))
        try:
            return from_text(RankState, text) if text else None
        except Malformed:
            return None

    def _is_asked(self) -> bool:
        return bool(self._stored(lambda store: store.check([_ASKED])))

    def _say(self) -> None:
        """Answer once: what comes after the first question follows from a hang."""
        if not self._is_said:
            self._is_said = True
            key, text = _state_key(self._here.rank), to_text(self._state())
            self._stored(lambda store: store.set(key, text))

    def _stored(self, call: Callable[[Any], T], instead: T | None = None) -> T | None:
        """Use the store while it is there: its first failure is the last, as each is a page of log."""
        if not self._has_store:
            return instead
        try:
            return call(self._store)
        except RuntimeError:
            self._has_store = False
            return instead

    def _state(self) -> RankState:
        return RankState(tuple(self._calls()[-_MOST_CALLS:]), main_at(), self.doing)

    def _calls(self) -> list[CollectiveCall]:
        return own_calls(self._since)


def _state_key(rank: int) -> str:
    return f"witness/state/{rank}"


def _value(store: Any, key: str) -> str:
    """Return a value without waiting for it; '' if there is none."""
    return str(store.get(key).decode()) if store.check([key]) else ""


def own_connection(store: Any) -> Any:
    """Open another connection to the server of a store: one serves one thread at a time."""
    import torch.distributed as dist

    while hasattr(store, "underlying_store"):
        store = store.underlying_store
    tcp: Any = dist
    try:
        if hasattr(store, "clone"):
            return store.clone()
        return tcp.TCPStore(store.host, store.port, is_master=False, wait_for_workers=False)
    except RuntimeError as error:
        raise _store_has_gone(error) from None


def _store_has_gone(error: RuntimeError) -> FictlError:
    first = str(error).partition("\n")[0]
    return FictlError(
        "the process that serves the ranks' store ended before all ranks had come here",
        f"see the output of that rank, which is mostly rank 0; torch reports: {first}",
    )


def main_at() -> str:
    """Return the line of the user's code where the main thread is."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)  # noqa: SLF001  # no other
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(("<", *_LIBRARIES)):
            return f"{Path(file).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
