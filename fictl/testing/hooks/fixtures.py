"""Fixtures for tests of a fictl project; loaded as a pytest plugin, for all tests."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any, Literal

import pytest

from fictl.testing.hooks.ranks import _meeting_point, process_group, ranks
from fictl.testing.hooks.schedules import device

__all__ = ["_meeting_point", "device", "process_group", "ranks", "register_below"]

_FIXTURES: dict[str, Any] = {
    "_meeting_point": _meeting_point,
    "device": device,
    "process_group": process_group,
    "ranks": ranks,
}
_SESSION_WIDE = {"_meeting_point"}


def register_below(node: pytest.Collector) -> None:
    """Register the fixtures for the tests below `node`; its own fixtures of the same name win."""
    if hasattr(pytest, "register_fixture"):
        _register(node)
    else:
        _register_by_name(node)


def _register(node: pytest.Collector) -> None:
    for name, fixture in _FIXTURES.items():
        scope: Literal["session", "function"] = "session" if name in _SESSION_WIDE else "function"
        pytest.register_fixture(name=name, func=inspect.unwrap(fixture), node=node, scope=scope)


def _register_by_name(node: pytest.Collector) -> None:
    """Register them before pytest 9.1, which has no public way."""
    manager: Any = vars(node.session)["_fixturemanager"]
    # Why a module: pytest does not search the same object for fixtures twice.
    holder = ModuleType(__name__)
    vars(holder).update(_FIXTURES)
    manager.parsefactories(holder, node.nodeid)
    for name in _FIXTURES:
        known = vars(manager)["_arg2fixturedefs"][name]
        ours = known.pop()
        theirs = (i for i, fixture in enumerate(known) if fixture.baseid.startswith(node.nodeid))
        known.insert(next(theirs, len(known)), ours)
