from __future__ import annotations

from pathlib import Path

import pytest

from fictl.case.definitions import Traced, export, traced
from fictl.errors import UsageError
from fictl.project import find, select
from fictl.trace import Case


@pytest.fixture
def twice(tiny: Path) -> Traced:
    (found,) = traced(find("twice"))
    return found


def test_a_function_has_its_op_template_cases_and_place(twice: Traced, tiny: Path) -> None:
    assert twice.op.api == "tiny.ops.twice"
    assert [*twice.template.inputs] == ["input"]
    assert twice.cases == [Case("twice", {"n": 1}, "int32")]
    assert twice.place == tiny / "tests" / "trace" / "definitions" / "twice"


def test_tests_that_lie_elsewhere_take_the_definitions_along(tiny: Path) -> None:
    (tiny / "fictl.toml").write_text('name = "tiny"\ntests = "checks"\n')
    (found,) = traced(find("twice"))
    assert found.place == tiny / "checks" / "trace" / "definitions" / "twice"


def test_cases_that_differ_in_variable_axes_make_one_definition() -> None:
    (rmsnorm,) = (each for each in traced(select(["fictl/rmsnorm"])) if each.name == "rmsnorm")
    made = rmsnorm.definitions()
    assert len(made) == len({(case.sizes["hidden"], case.dtype) for case in rmsnorm.cases})


def test_two_definitions_of_one_name_are_refused(twice: Traced, monkeypatch) -> None:
    sources = iter(("first", "second"))

    def make(self: Traced, case: Case) -> object:
        return type("Made", (), {"name": "twice", "text": next(sources)})()

    monkeypatch.setattr(Traced, "cases", [Case("twice", {}, "int32")] * 2)
    monkeypatch.setattr(Traced, "definition", make)
    with pytest.raises(UsageError, match=r"two definitions of tiny\.ops.twice are named twice"):
        twice.definitions()


def test_an_export_is_sorted_by_op_type(twice: Traced, tmp_path: Path) -> None:
    (path,) = export([twice], tmp_path / "out")
    assert path == tmp_path / "out" / "twice" / "twice.json"
    assert path.read_text() == next(iter(twice.definitions().values())).to_json()


def test_an_export_that_is_only_shown_writes_nothing(twice: Traced, tmp_path: Path) -> None:
    assert len(export([twice], tmp_path / "out", dry_run=True)) == 1
    assert not (tmp_path / "out").exists()
