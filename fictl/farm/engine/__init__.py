"""Engines: what starts a worker at a place. A place names its engine, which is a file here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fictl.child.session import Transport
    from fictl.farm.place import Place

ENGINES = ("command",)


class Worker(Protocol):
    """A started worker: a transport, which other threads may interrupt.

    heard: the time (of time.monotonic) of its last output. A long line that comes slowly counts,
    where the engine can tell; else the time of the last line.
    """

    @property
    def has_ended(self) -> bool: ...

    @property
    def heard(self) -> float: ...

    def write_line(self, line: str) -> None: ...

    def next_line(self, deadline: float) -> str | None: ...

    def terminate(self) -> None: ...

    def hang_up(self) -> None: ...

    def close(self) -> str: ...


class Engine(Protocol):
    """A module of this folder."""

    def start(self, place: Place, variables: Mapping[str, str], words: IO[bytes]) -> Worker:
        """Start a worker there; its stderr goes to `words`. NotStarted: it cannot be started."""


def engine_of(place: Place) -> Engine:
    return import_module(f"{__name__}.{place.engine}")


def transport_of(worker: Worker) -> Transport:
    return worker
