"""A bar of work at places, and notes of it: what commands with --on and a dataset's run show alike."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

from fictl.cli import console
from fictl.cli.late_bar import LateBar
from fictl.quantity import counted

B = TypeVar("B", bound="PlacesBar")


class PlacesBar:
    """A context, and the part of an observer that is about places. `quiet` says notes only."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar = LateBar()
        self._places = ""

    def __enter__(self: B) -> B:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def places(self, busy: int, left: int, total: int) -> None:
        lost = f", {total - left} lost" if left < total else ""
        self._places = f"  {busy} of {counted(total, 'place')} busy{lost}"

    def note(self, text: str) -> None:
        console.note(text)
