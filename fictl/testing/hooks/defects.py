"""Defects that the emulated device reports, recorded with the name of the running test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.emu.report import Report
from fictl.op.ffi.emulated import listen
from fictl.testing.hooks.record import name


class Defects:
    """Pytest plugin that appends a line to a file for each report.

    With it, a test does not fail by a defect if its kernel still ran to the end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._test = ""
        listen(self._write)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        self._test = name(item)

    def _write(self, op: str, reports: list[Report]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            for report in reports:
                line = {"op": op, "test": self._test, **report.to_dict(), "text": report.text()}
                file.write(json.dumps(line) + "\n")
