"""The fixtures that tests of a fictl project have; as a plugin of pytest, all tests have them."""

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
    """For the tests of `node` alone; a fixture of theirs that has the same name goes first."""
    if hasattr(pytest, "register_fixture"):
        _register(node)
    else:
        _register_by_name(node)


def _register(node: pytest.Collector) -> None:
    for name, fixture in _FIXTURES.items():
        scope: Literal["session", "function"] = "session" if name in _SESSION_WIDE else "function"
        pytest.register_fixture(name=name, func=inspect.unwrap(fixture), node=node, scope=scope)


def _register_by_name(node: pytest.Collector) -> None:
    """Before pytest 9.1, which has no public way."""
    manager: Any = vars(node.session)["_fixturemanager"]
    # Why a module of its own: what has been searched for fixtures once is not searched again.
    holder = ModuleType(__name__)
    vars(holder).update(_FIXTURES)
    manager.parsefactories(holder, node.nodeid)
    for name in _FIXTURES:
        found = vars(manager)["_arg2fixturedefs"][name]
        ours = found.pop()
        theirs = (i for i, each in enumerate(found) if each.baseid.startswith(node.nodeid))
        found.insert(next(theirs, len(found)), ours)
