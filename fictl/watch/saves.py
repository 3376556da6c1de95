"""Notification of file writes by the kernel's inotify, else by polling."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserver

from fictl.paths import on_network
from fictl.watch.leftovers import is_leftover

# Read events are not included: a compiler opens every header.
_WRITES: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]

_Identity = tuple[int, int]


class Saves:
    """A context manager: `told` is called with each file written in `places`, by another thread.

    `polling` explains why folders are polled once a second; '' if inotify works.
    """

    def __init__(self, places: Mapping[Path, bool], told: Callable[[Path], object]) -> None:
        self._places, self._told = dict(places), told
        self._armed: dict[Path, tuple[_Identity, ObservedWatch]] = {}
        far = next((place for place in places if on_network(place)), None)
        self.polling = f"{far} is on a network file system" if far else ""
        self._observer = _started(PollingObserver() if far else Observer())

    def __enter__(self) -> Saves:
        # Printed for a folder that is moved away and back; it is harmless.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self.rearm()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._observer.stop()
        self._observer.join()

    def rearm(self, places: Mapping[Path, bool] | None = None) -> list[Path]:
        """Watch `places` as well from now on; return the places that appeared, vanished or were
        replaced.

        Call this now and then: if a folder is moved away and made again, as when git changes
        branches, inotify reports nothing more for it.
        """
        self._places |= places or {}
        changed = [place for place in self._places if self._has_changed(place)]
        for place in changed:
            self._disarm(place)
            try:
                self._arm(place)
            except OSError as error:
                if isinstance(self._observer, PollingObserver):
                    raise
                self._poll(error)
                break
        return changed

    def _has_changed(self, place: Path) -> bool:
        armed = self._armed.get(place)
        return _identity(place) != (armed[0] if armed else None)

    def _arm(self, place: Path) -> None:
        identity = _identity(place)
        if identity is not None:
            with suppress(FileNotFoundError):  # It has gone again; the next look tells.
                watch = self._observer.schedule(
                    _Handler(place, self._told),
                    str(place),
                    recursive=self._places[place],
                    event_filter=_WRITES,
                )
                self._armed[place] = identity, watch

    def _disarm(self, place: Path) -> None:
        _, watch = self._armed.pop(place, (None, None))
        if watch is not None:
            with suppress(KeyError, OSError):
                self._observer.unschedule(watch)

    def _poll(self, error: OSError) -> None:
        """Poll instead of inotify, for example if all its watches are in use."""
        self.polling = (
            f"the kernel watches no more folders ({error.strerror}); "
            "a larger fs.inotify.max_user_watches or max_user_instances (sysctl) lets it"
        )
        self._observer.stop()
        self._observer.join()
        self._observer, self._armed = _started(PollingObserver()), {}
        for place in self._places:
            self._arm(place)


class _Handler(FileSystemEventHandler):
    def __init__(self, place: Path, told: Callable[[Path], object]) -> None:
        self._place, self._told = place, told

    def on_any_event(self, event: FileSystemEvent) -> None:
        for name in (event.src_path, event.dest_path):
            path = Path(str(name))
            if name and not is_leftover(path, self._place):
                self._told(path)


def _started(observer: BaseObserver) -> BaseObserver:
    observer.start()
    return observer


def _identity(place: Path) -> _Identity | None:
    try:
        stat = place.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
