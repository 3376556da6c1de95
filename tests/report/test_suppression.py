"""Reports that a project accepts: read strictly, matched by op, kind and site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.report.suppression import Suppression, read_suppressions

FINDING = {
    "op": "prefill_paged",
    "folder": "mine/attention/prefill",
    "kind": "race",
    "file": "/src/mine/attention/prefill.cuh",
    "line": 120,
}
OTHER = {"file": "/src/mine/attention/copy.cuh", "line": 7}


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "sanitize.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_without_a_file_nothing_is_accepted(tmp_path: Path) -> None:
    assert read_suppressions(tmp_path / "sanitize.toml") == ()


def test_an_empty_file_accepts_nothing(file) -> None:
    assert read_suppressions(file("# nothing yet\n")) == ()


def test_each_table_is_a_suppression(file) -> None:
    path = file(
        '[[suppress]]\nop = "a"\nwhy = "padding"\n'
        '[[suppress]]\nop = "b"\nkind = "race"\nsite = "b.cuh:3"\nwhy = "same value"\n'
    )
    assert read_suppressions(path) == (
        Suppression("a", "padding"),
        Suppression("b", "same value", "race", "b.cuh:3"),
    )


def test_the_example_of_the_hint_can_be_read_and_names_an_op_by_its_folder(file) -> None:
    with pytest.raises(UsageError) as caught:
        read_suppressions(file("suppress = 3\n"))
    (example,) = read_suppressions(file(caught.value.hint.removeprefix("as in\n")))
    assert example.covers({**FINDING, "kind": "uninitialised"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[suppress]\n", "cannot be read"),
        ("op = 'a'\nop = 'b'\n", "cannot be read"),
        ("[[ignore]]\nop = 'a'\nwhy = 'b'\n", r"ignore is not a list of \[\[suppress\]\]"),
        ("[suppress]\nop = 'a'\nwhy = 'b'\n", r"suppress is not a list of \[\[suppress\]\]"),
        ("suppress = ['a']\n", "a is not a suppression"),
        ("[[suppress]]\nop = 'a'\n", "not a suppression: it has op and why"),
        ("[[suppress]]\nop = 'a'\nwhy = ''\n", "not a suppression: it has op and why"),
        ("[[suppress]]\nwhy = 'b'\n", "not a suppression: it has op and why"),
        ("[[suppress]]\nop = 'a'\nwhy = 'b'\nline = '3'\n", "may have kind and site"),
        ("[[suppress]]\nop = 'a'\nwhy = 3\n", "not a suppression"),
    ],
)
def test_a_file_that_means_something_else_is_refused_by_its_name(file, text, said) -> None:
    path = file(text)
    with pytest.raises(UsageError, match=said) as caught:
        read_suppressions(path)
    assert str(path) in caught.value.message
    assert "[[suppress]]" in caught.value.hint


def test_a_file_that_is_no_text_is_refused_by_its_name(file) -> None:
    path = file("")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"sanitize\.toml cannot be read"):
        read_suppressions(path)


@pytest.mark.parametrize(
    ("changes", "covered"),
    [
        ({"op": "prefill_paged"}, True),
        ({"op": "prefill"}, True),
        ({"op": "attention/prefill"}, True),
        ({"op": "mine/attention/prefill"}, True),
        ({"op": "attention/*"}, True),
        ({"op": "*"}, True),
        ({"op": "decode"}, False),
        ({"op": "fill"}, False),
        ({"kind": "race"}, True),
        ({"kind": "ra*"}, True),
        ({"kind": "hang"}, False),
        ({"site": "prefill.cuh"}, True),
        ({"site": "prefill.cuh:120"}, True),
        ({"site": "*/attention/prefill.cuh:12?"}, True),
        ({"site": "prefill.cuh:12"}, False),
        ({"site": "fill.cuh"}, False),
    ],
)
def test_a_finding_is_covered_where_op_kind_and_site_match(
    changes: dict[str, str], covered: bool
) -> None:
    assert Suppression(**{"op": "*", "why": "it is so", **changes}).covers(FINDING) == covered


@pytest.mark.parametrize("site", ["prefill.cuh:120", "copy.cuh:7"])
def test_one_side_of_a_conflict_is_enough(site: str) -> None:
    conflict: dict[str, Any] = {**FINDING, "other": OTHER}
    assert Suppression("*", "it is so", site=site).covers(conflict)


def test_a_finding_without_a_place_is_covered_by_any_site_alone() -> None:
    nowhere = {**FINDING, "file": "", "line": 0}
    assert Suppression("*", "it is so").covers(nowhere)
    assert not Suppression("*", "it is so", site="prefill.cuh").covers(nowhere)
