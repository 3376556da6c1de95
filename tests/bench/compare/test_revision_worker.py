"""One op in two revisions, as one process times them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fictl import settings
from fictl.bench.compare.revision_worker import work
from fictl.bench.messages import RevisionsRequest
from fictl.bench.options import BenchOptions
from fictl.errors import InvalidValue, UsageError
from fictl.project import Project, folders
from fictl.project.revision import checkout


@pytest.fixture
def request_of(history, tiny, monkeypatch) -> Iterator[RevisionsRequest]:
    """The request for `twice` at HEAD, where it gives 'old', and as it lies here, where 'new'."""
    monkeypatch.setenv(settings.DEVICE.name, "emu")
    op = tiny / "kernels" / "elementwise" / "twice" / "op.py"
    text = op.read_text(encoding="utf-8")
    assert "int(kernel.twice(input))" in text
    op.write_text(text.replace("int(kernel.twice(input))", "'old'"), encoding="utf-8")
    history("old")
    op.write_text(text.replace("int(kernel.twice(input))", "'new'"), encoding="utf-8")
    with checkout(Project.at(), "HEAD") as old, checkout(Project.at(), ".") as new:
        sides = {each.label: folders(each.project)[0].op for each in (new, old)}
        op, options = "tiny/elementwise/twice", BenchOptions()
        yield RevisionsRequest(op, sides, ("twice",), "emu", options)


def test_both_are_sides_of_every_case_and_the_newer_comes_first(request_of) -> None:
    ((subject, case, contenders),) = work(request_of)
    assert subject.op == "tiny/elementwise/twice"
    assert str(case) == "twice-1-int32"
    assert [each.name for each in contenders] == list(request_of.sides)


def test_each_side_runs_its_own_code(request_of) -> None:
    ((_, _, contenders),) = work(request_of)
    results = [contender.prepare({"input": 3}, {})[1]() for contender in contenders]
    assert results == ["new", "old"]


def test_an_input_that_is_not_passed_may_be_unknown(request_of) -> None:
    ((_, _, contenders),) = work(request_of)
    for contender in contenders:
        contender.prepare({"input": 3, "of_tomorrow": None}, {})


def test_an_input_that_is_passed_may_not(request_of) -> None:
    ((_, _, contenders),) = work(request_of)
    with pytest.raises(InvalidValue, match="of_tomorrow"):
        contenders[0].prepare({"input": 3, "of_tomorrow": 1}, {})


def test_a_case_that_there_is_not_is_refused(request_of) -> None:
    with pytest.raises(UsageError, match="no case of twice"):
        list(work(replace(request_of, options=BenchOptions(case="nonsense"))))
