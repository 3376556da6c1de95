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
    holds, gpus = place.gpu is None, place.gpu_count
    return Greeting(device, holds=holds, wait=wait, untrusted=is_asked, gpus=gpus)


def open_all(
    places: Sequence[Place], greet: Greet, note: Callable[[str], object] = lambda text: None
) -> list[OpenPlace]:
    """Start a worker at each place; the caller ends them. After an interrupt none is left."""
    begun: list[Connection] = []
    allow_handles(len(places))
    try:
        with ThreadPoolExecutor(_AT_ONCE) as starts:
            try:
                tried = starts.map(lambda place: _opened(place, greet(place), note, begun), places)
                opened = [*tried]
            except BaseException:
                starts.shutdown(wait=False, cancel_futures=True)
                for connection in [*begun]:  # One may wait minutes for a machine.
                    connection.interrupt()
                raise
    except BaseException:
        for connection in begun:
            connection.end()
        raise
    return opened


def close_all(opened: Sequence[OpenPlace]) -> None:
    with ThreadPoolExecutor(_AT_ONCE) as ends:
        [*ends.map(_close, opened)]


def _opened(
    place: Place, greeting: Greeting, note: Callable[[str], object], begun: list[Connection]
) -> OpenPlace:
    try:
        connection = Connection(place, note)
    except FictlError as error:
        return OpenPlace(place, problem=error)
    except OSError as error:
        return OpenPlace(place, problem=_problem(error))
    begun.append(connection)
    try:
        ready = connection.greet(greeting)
    except (FictlError, OSError, ValueError) as error:
        connection.end()
        return OpenPlace(place, problem=_problem(error))
    except BaseException:
        connection.end()
        raise
    return OpenPlace(replace(place, hardware=ready.hardware), connection, ready)


def _problem(error: Exception) -> FictlError:
    """Say in words why a place cannot be opened, as where no more files can be open here."""
    if isinstance(error, FictlError):
        return error
    in_words_of_system = of_os(error) if isinstance(error, OSError) else None
    return in_words_of_system or Lost(f"it cannot be started: {error}")


def _close(one: OpenPlace) -> None:
    if one.connection is not None:
        one.connection.hang_up()
        one.connection.end()
