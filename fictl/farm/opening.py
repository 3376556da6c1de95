"""The start of many places at once: which of them can work, and why the others cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from fictl.child.lost import Lost
from fictl.errors import FictlError, of_os
from fictl.farm.connection import Connection
from fictl.farm.handles import allow_handles
from fictl.farm.line import Greeting, Ready
from fictl.farm.place import Place
from fictl.farm.station import in_words

# More at once would be refused by an ssh server that several places share.
_AT_ONCE = 16

Greet = Callable[[Place], Greeting]


@dataclass(frozen=True)
class OpenPlace:
    """A place, its worker and its facts; without a worker, `problem` says why there is none."""

    place: Place
    connection: Connection | None = None
    ready: Ready | None = None
    problem: FictlError | None = None

    @property
    def why(self) -> str:
        return in_words(self.problem) if self.problem is not None else ""


def greeting_of(
    place: Place, device: str, wait: float | None = None, untrusted: bool = False
) -> Greeting:
    """Greet a worker; it locks its GPU, unless this process does.

    On this machine, the judge itself refuses what it cannot wall in: nothing leaves for it.
    """
    is_asked = untrusted and not place.is_here
    return Greeting(device, holds=place.gpu is None, wait=wait, untrusted=is_asked)


def open_all(
    places: Sequence[Place], greet: Greet, note: Callable[[str], object] = lambda text: None
) -> list[OpenPlace]:
    """Start a worker at each place; the caller ends them, also after an interrupt."""
    opened: list[OpenPlace] = []
    allow_handles(len(places))
    with ThreadPoolExecutor(_AT_ONCE) as starts:
        try:
            opened.extend(starts.map(lambda place: _opened(place, greet(place), note), places))
        except BaseException:
            starts.shutdown(cancel_futures=True)
            close_all(opened)
            raise
    return opened


def close_all(opened: Sequence[OpenPlace]) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as ends:
        [*ends.map(_close, opened)]


def _opened(place: Place, greeting: Greeting, note: Callable[[str], object]) -> OpenPlace:
    try:
        connection = Connection(place, note)
    except FictlError as error:
        return OpenPlace(place, problem=error)
    except OSError as error:  # As where no more files can be open.
        return OpenPlace(place, problem=of_os(error) or Lost(f"it cannot be started: {error}"))
    try:
        ready = connection.greet(greeting)
    except (FictlError, ValueError) as error:
        connection.end()
        problem = error if isinstance(error, FictlError) else Lost(str(error))
        return OpenPlace(place, problem=problem)
    except BaseException:
        connection.end()
        raise
    return OpenPlace(replace(place, hardware=ready.hardware), connection, ready)


def _close(one: OpenPlace) -> None:
    if one.connection is not None:
        one.connection.hang_up()
        one.connection.end()
