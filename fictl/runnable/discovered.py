"""Builders of fictl and of installed packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points

from fictl.log import warn_once
from fictl.runnable.builder import Builder

ENTRY_POINTS = "fictl.builders"


def shipped() -> list[type[Builder]]:
    """Classes of fictl's builders, in the order in which they are asked."""
    from fictl.runnable import builders

    return [
        builders.TritonBuilder,
        builders.TileLangBuilder,
        builders.PythonBuilder,
        builders.TVMFFIBuilder,
        builders.TorchBuilder,
    ]


def third_party() -> Iterator[type[Builder]]:
    """Builders by the name of their entry point; one that fails to load is reported and skipped."""
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        try:
            kind = _builder(entry.load())
            if kind.is_available():
                kind()  # type: ignore[call-arg]
                yield kind
        except Exception as error:  # Other packages may raise anything.
            warn_once(f"the builder {entry.name} ({entry.value}) is passed over: {error!r}")


def _builder(loaded: object) -> type[Builder]:
    if isinstance(loaded, type) and issubclass(loaded, Builder):
        return loaded
    raise TypeError(f"{loaded!r} is not a Builder")
