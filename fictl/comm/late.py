"""A kernel's word to the host about a wait that took too long, and whom it waited for."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import torch

from fictl.comm.group import Group
from fictl.log import warn_once
from fictl.ranks.witness import main_at, own_connection

# Mirrors `Late` of kernels/include/fictl/comm/peers.cuh.
_WORDS = 5
_WRITTEN = 2
_TICK_SECONDS = 0.2
_ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class LateWait:
    """A block that waited for a rank until its patience ended; rank -1: it cannot say which."""

    peer: int
    block: int
    wanted: int
    have: int


class Late:
    """Memory of the host that the kernels of one workspace write, and the thread that reads it.

    The thread also tells the other ranks where this one is, as its main thread may wait for a GPU.
    """

    def __init__(self, group: Group, seconds: float) -> None:
        self.patience_ns = int(seconds * 1e9)
        self._group, self._seconds = group, seconds
        self.words = torch.zeros(_WORDS, dtype=torch.int64, pin_memory=torch.cuda.is_available())
        self._store: Any = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="late", args=group.store())

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._done.set()

    @property
    def address(self) -> int:
        return self.words.data_ptr()

    def read(self) -> LateWait | None:
        there, *words = self.words.tolist()
        return LateWait(*words) if there == _WRITTEN else None

    def _watch(self, store: Any = None, key: str = "") -> None:
        own = None if store is None else own_connection(store)
        # Why no daemon: where the error of a kernel ends the main thread, this one still tells why.
        while threading.main_thread().is_alive() and not self._done.wait(_TICK_SECONDS):
            if own is not None and own.check([f"{key}/asked"]):
                own.set(f"{key}/at/{self._group.rank}", main_at() or "in no code of a user")
            wait = self.read()
            if wait is not None:
                warn_once(self._told(wait, own, key))
                return

    def _told(self, wait: LateWait, store: Any, key: str) -> str:
        whom = "a rank" if wait.peer < 0 else f"rank {wait.peer}"
        came = f"; it came to {wait.have} of {wait.wanted}" if wait.wanted else ""
        where = "" if store is None or wait.peer < 0 else f", which {_place(store, key, wait.peer)}"
        return (
            f"rank {self._group.rank} of {self._group.name}: block {wait.block} waited "
            f"{self._seconds:g} s for {whom}{where}{came}"
        )


def _place(store: Any, key: str, peer: int) -> str:
    """Ask the other rank where its main thread is."""
    answer = f"{key}/at/{peer}"
    store.set(f"{key}/asked", "1")
    deadline = time.monotonic() + _ANSWER_SECONDS
    while time.monotonic() < deadline:
        if store.check([answer]):
            return f"is at {store.get(answer).decode()}"
        time.sleep(_TICK_SECONDS / 4)
    return "does not answer"
