"""Modules that children run, written beside the test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """The name of a module with this code, which this process and its children can import."""

    def write(code: str, name: str = "played_child") -> str:
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        return name

    monkeypatch.syspath_prepend(tmp_path)
    return write
