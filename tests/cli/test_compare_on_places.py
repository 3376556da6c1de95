"""compare --on: both sides of an op at one place, and revisions of a project that goes there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl import settings
from fictl.bench.compare.outcome import CompareOutcome
from fictl.farm.spread.command_job import CommandJob, CommandResult
from fictl.farm.spread.compared import comparisons, exit_code

_PLACES = """
[[place]]
name = "far{0..1}"
launch = ["env"]
variables = { FICTL_WORKSPACE_BASE = "%s" }
"""


@pytest.fixture
def on(tmp_path: Path, users_cache: None, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "places.toml"
    path.write_text(_PLACES % settings.WORKSPACE_BASE.get())
    return str(path)


def test_revisions_go_to_a_place_and_keep_their_names(
    fictl, history: Callable[[str], str], tiny: Path, on: str
) -> None:
    words = ("compare", "HEAD", ".", "--device", "emu", "--rounds", "6", "--on", on)
    answer = fictl(*words, "--json")
    assert answer.code in (0, 1), answer.out + answer.err
    (compared,) = answer.document["data"]["comparisons"]
    assert compared["place"] in ("far0", "far1")
    assert compared["a"].startswith("HEAD (")
    assert compared["b"] == "working tree"
    assert {case["place"] for case in compared["cases"]} == {compared["place"]}
    assert "fictl-revision" not in answer.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--baseline",), "--baseline and --on exclude each other"),
        (("HEAD", ".", "--force"), "--force and --on exclude each other"),
        (("old.json", "new.json"), "two stored results are compared here"),
        (("HEAD", "no-such"), "no-such"),
    ],
)
def test_what_would_cross_places_is_refused(
    fictl, history: Callable[[str], str], tiny: Path, words: tuple[str, ...], why: str
) -> None:
    for name in ("old.json", "new.json"):
        (tiny / name).write_text("{}")
    answer = fictl("compare", *words, "--on", "ssh:nowhere")
    assert answer.code == 2
    assert why in answer.err


def result(place: str, op: str, verdict: str = "SAME", **more: object) -> CommandResult:
    case = {"op": op, "case": f"{op}-8", "a": 1e-6, "b": 2e-6, "ratio": 1.0, "low": 0.9}
    case |= {"high": 1.1, "verdict": verdict, "advice": ""}
    data = {"a": "tag-0 (1234567)", "b": "working tree", "how": "once", "where": "H200"}
    data |= {"threshold": 0.01, "cases": [case], "only_a": [], "only_b": [], "untimed": []}
    data |= {"notes": ["n"], "counts": {}, **more}
    return CommandResult(CommandJob(op, ()), place, data)


def test_outcomes_of_a_place_are_joined_and_those_of_two_are_not() -> None:
    found = [result("a", "x"), result("b", "y", "SLOWER"), result("a", "z")]
    one, other = comparisons(found, {"tag-0 (1234567)": "HEAD~3 (abcdef0)"})
    assert (one.place, [case.op for case in one.outcome.cases]) == ("a", ["x", "z"])
    assert (one.outcome.a, one.outcome.notes) == ("HEAD~3 (abcdef0)", ("n",))
    assert other.to_dict()["cases"][0]["place"] == "b"
    assert exit_code([one, other]) == 1
    assert exit_code([one]) == 0
    assert CompareOutcome.from_dict(one.outcome.to_dict()) == one.outcome


def test_other_clocks_of_one_place_are_not_joined() -> None:
    found = [result("a", "x"), result("a", "y", where="H200 · 1200 MHz")]
    assert len(comparisons(found, {})) == 2


def test_nothing_compared_is_exit_3_where_no_place_has_a_case() -> None:
    empty = comparisons([result("a", "x", cases=[])], {})
    assert exit_code(empty) == 3
    assert exit_code([*empty, *comparisons([result("b", "y")], {})]) == 0


@pytest.mark.parametrize(
    "data", [{"cases": 3}, {"cases": [{}]}, {"threshold": "x"}, {"untimed": [{"case": 1}]}]
)
def test_an_answer_that_is_no_comparison_is_said_to_be_none(data: dict[str, object]) -> None:
    with pytest.raises(RuntimeError, match="x: the answer of a cannot be read"):
        comparisons([result("a", "x", **data)], {})
