"""The builder of a worker: builds what solutions order, ahead of them, in processes of its own."""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress

from fictl.errors import FictlError
from fictl.jit.order import Order
from fictl.judge.fault import own_faults
from fictl.judge.once.building import Walls, build
from fictl.judge.once.shelf import Shelf
from fictl.judge.process.order_desk import OWN, Delivery
from fictl.judge.process.sandboxed_process import SandboxedProcess

_MOMENT = 0.05

Ordered = tuple[str, Order, Walls]


class Builder:
    """Threads that wait for one builder's process each. `close` ends them and their processes."""

    def __init__(self, shelf: Shelf, at_once: int) -> None:
        self._shelf, self._at_once = shelf, max(1, at_once)
        self._changed = threading.Condition()
        self._waiting: deque[Ordered] = deque()
        self._pending: set[str] = set()
        self._ended: list[str] = []
        self._threads: list[threading.Thread] = []
        self._processes: dict[int, SandboxedProcess] = {}
        self._is_closed = False

    def deliver(self, key: str, order: Order, walls: Walls) -> Delivery | None:
        """Return what an order has come to; otherwise begin with it, if nobody has."""
        delivery = self._shelf.find(key)
        if delivery is not None:
            return delivery
        with self._changed:
            if key not in self._pending:
                self._pending.add(key)
                self._waiting.append((key, order, walls))
                self._start_thread()
                self._changed.notify_all()
        return None

    @property
    def has_room(self) -> bool:
        """Tell whether another build could begin at once."""
        with self._changed:
            return len(self._pending) < self._at_once

    def is_pending(self, key: str) -> bool:
        with self._changed:
            return key in self._pending

    def wait(self, key: str, seconds: float, others: bool = False) -> bool:
        """Wait for a build; return False at a timeout and, with `others`, once another has ended."""

        def is_due() -> bool:
            return key not in self._pending or (others and bool(self._ended)) or self._is_closed

        with self._changed:
            self._changed.wait_for(is_due, seconds)
            return key not in self._pending

    def news(self) -> tuple[str, ...]:
        """Return what has ended since the last call."""
        with self._changed:
            ended, self._ended = tuple(self._ended), []
            return ended

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            processes = [*self._processes.values()]
            self._changed.notify_all()
        for process in processes:
            process.end_soon()
        for thread in self._threads:
            thread.join()
        self._shelf.close()

    def _start_thread(self) -> None:
        if len(self._threads) < min(self._at_once, len(self._pending)):
            thread = threading.Thread(target=self._work, name="builder", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        while (ordered := self._next()) is not None:
            key = ordered[0]
            try:
                is_ended = self._done(*ordered)
            except (FictlError, OSError):  # Whoever ordered then builds, and says what is wrong.
                is_ended = True
                with suppress(OSError):
                    self._shelf.put(key, OWN)
            with self._changed:
                if is_ended:
                    self._pending.discard(key)
                    self._ended.append(key)
                else:
                    self._waiting.append(ordered)
                    self._changed.wait(_MOMENT)
                self._changed.notify_all()

    def _next(self) -> Ordered | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            return None if self._is_closed else self._waiting.popleft()

    def _done(self, key: str, order: Order, walls: Walls) -> bool:
        """Build, unless another worker of the run does so now."""
        with own_faults("building for a solution"), self._shelf.claimed(key) as is_ours:
            if is_ours and self._shelf.find(key) is None:
                build(key, order, self._shelf, walls, self._began)
            return is_ours

    def _began(self, process: SandboxedProcess) -> None:
        with self._changed:
            self._processes[threading.get_ident()] = process
            if self._is_closed:
                process.end_soon()
