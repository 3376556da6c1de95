"""What A and B are taken for."""

from __future__ import annotations

import pytest

from fictl.bench.compare.request import RESULTS, REVISIONS, SIDES, CompareRequest, understand
from fictl.errors import UsageError


@pytest.mark.parametrize(
    ("words", "a", "b"),
    [
        (["HEAD~1..HEAD"], "HEAD~1", "HEAD"),
        (["HEAD~1.."], "HEAD~1", "HEAD"),
        (["HEAD~1", "HEAD"], "HEAD~1", "HEAD"),
        (["HEAD", "."], "HEAD", "."),
    ],
)
def test_revisions(history, words: list[str], a: str, b: str) -> None:
    history("second")
    assert understand(words, []) == CompareRequest(REVISIONS, a, b)


def test_an_op_may_be_named_with_revisions(history) -> None:
    assert understand(["HEAD", "."], ["twice"]).kind == REVISIONS


def test_files_are_results(history, tmp_path) -> None:
    paths = [tmp_path / "old.json", tmp_path / "new"]
    for path in paths:
        path.touch()
    assert understand([*map(str, paths)], []) == CompareRequest(RESULTS, *map(str, paths))


def test_a_result_that_is_not_there_is_named(history, tmp_path) -> None:
    (tmp_path / "old.json").touch()
    with pytest.raises(UsageError, match=r"there is no result gone\.json"):
        understand([str(tmp_path / "old.json"), "gone.json"], [])


def test_the_op_and_a_baseline_are_sides(history) -> None:
    assert understand(["fictl", "torch"], []).kind == SIDES


def test_two_baselines_of_an_op_are_sides(history) -> None:
    assert understand(["torch", "flashinfer"], ["twice"]).kind == SIDES


def test_backends_come_before_branches_of_their_name(history, monkeypatch) -> None:
    monkeypatch.setattr(
        "fictl.bench.compare.request.declared_backends", lambda ops: {"sm80", "HEAD"}
    )
    assert understand(["sm80", "HEAD"], []).kind == SIDES


@pytest.mark.parametrize("words", [["HEAD", "nonsense"], ["nonsense", "HEAD"], ["x", "nonsense"]])
def test_what_is_nothing_is_named(history, words: list[str]) -> None:
    with pytest.raises(UsageError, match="not a result, a git revision or a backend"):
        understand(words, [])


@pytest.mark.parametrize("words", [[], ["HEAD"], ["HEAD", "HEAD~1", "."]])
def test_other_than_two_are_refused(history, words: list[str]) -> None:
    with pytest.raises(UsageError, match=f"these are {len(words)}"):
        understand(words, [])


def test_outside_of_a_repository_nothing_is_a_revision(tiny) -> None:
    with pytest.raises(UsageError, match="'HEAD' is not a result"):
        understand(["HEAD", "."], [])
