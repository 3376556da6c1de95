"""The start of many places, and its interruption."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fictl.child.family import descendants
from fictl.farm.line import Greeting
from fictl.farm.opening import open_all
from fictl.farm.place import Place

from .scripts import script


def test_an_interrupt_waits_for_no_place_that_is_still_to_come(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(300)\n"
    slow = Place("slow", python=script(tmp_path, code))

    def greet(place: Place) -> Greeting:
        if place is slow:
            return Greeting("cpu")
        while not begun.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    before = len(descendants(os.getpid()))
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        open_all([Place("interrupted"), slow], greet)
    assert time.monotonic() - start < 100
    assert len(descendants(os.getpid())) == before
