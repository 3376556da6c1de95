from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.case.definitions import Traced, traced
from fictl.project import Project, select
from fictl.testing.traced.trace_check import check

COMMITTED = sorted((Path(__file__).parent / "definitions").rglob("*.json"))
SHIPPED = [*traced(select([], [Project.shipped()]))]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_what_is_committed_is_in_the_format(path: Path, published: Callable[[str], object]) -> None:
    published(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("each", SHIPPED, ids=lambda each: each.name)
def test_it_is_what_the_cases_make_today(each: Traced) -> None:
    assert [finding.text for finding in check(each)] == []


def test_no_folder_is_of_a_function_that_is_gone() -> None:
    assert {path.parent.name for path in COMMITTED} == {each.name for each in SHIPPED}
