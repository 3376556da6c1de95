"""Builders of other packages come first, in the order of their names; broken ones are told."""

from __future__ import annotations

import logging
import sys
from importlib.metadata import EntryPoint, EntryPoints
from types import ModuleType

import pytest

from fictl.runnable import Builder, BuilderRegistry, discovered


class Theirs(Builder):
    def __init__(self):
        super().__init__("theirs_", "theirs")

    @staticmethod
    def is_available():
        return True

    def can_build(self, solution):
        return False

    def build(self, definition, solution):
        raise NotImplementedError


class Absent(Theirs):
    @staticmethod
    def is_available():
        return False


class Later(Theirs):
    pass


@pytest.fixture
def installed(monkeypatch):
    module = ModuleType("their_builders")
    vars(module).update(Theirs=Theirs, Absent=Absent, Later=Later, number=5)
    monkeypatch.setitem(sys.modules, "their_builders", module)

    def install(**values):
        found = EntryPoints(
            EntryPoint(name, f"their_builders:{value}", discovered.ENTRY_POINTS)
            for name, value in values.items()
        )
        monkeypatch.setattr(discovered, "entry_points", lambda group: found)

    return install


def test_they_come_first_by_name(installed):
    installed(b="Later", a="Theirs")
    names = [type(builder).__name__ for builder in BuilderRegistry.get_instance().builders]
    assert names[:2] == ["Theirs", "Later"]
    assert "PythonBuilder" in names


@pytest.mark.parametrize(
    ("value", "said"), [("missing", "no attribute"), ("number", "not a Builder")]
)
def test_a_broken_one_is_told_and_passed_over(installed, caplog, value, said):
    installed(a=value, b="Theirs", c="Absent")
    with caplog.at_level(logging.WARNING, "fictl"):
        logging.getLogger("fictl").propagate = True
        assert [*discovered.third_party()] == [Theirs]
    assert said in caplog.text
