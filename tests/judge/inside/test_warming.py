"""Warming up of a process, before it has a solution or a reference: no evaluation waits for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fictl.judge.inside import warming
from fictl.runnable import BuilderRegistry

WARM = {"device": "cpu", "records": False}


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A new process: no builder has been looked for; the names of what was looked at."""
    seen: list[str] = []
    integrity: Any = SimpleNamespace(changed=lambda: seen.append("changed"))
    monkeypatch.setattr(warming, "taken", lambda: integrity)
    monkeypatch.setattr(BuilderRegistry, "_instance", None)
    return seen


def test_builders_of_installed_packages_are_found(looked: list[str]) -> None:
    warming.warm(WARM)
    assert BuilderRegistry._instance is not None


def test_all_that_is_compared_later_is_looked_at(looked: list[str]) -> None:
    warming.warm(WARM)
    assert looked == ["changed"]
