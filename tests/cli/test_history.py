"""fictl history: from a result to a table, and what is refused before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import git
import pytest

from fictl.bench.result import BenchReport, Environment, save
from fictl.bench.row import Row


@pytest.fixture
def result(tiny: Path, tmp_path: Path, monkeypatch) -> Callable[[str, float], str]:
    """Commit something, and name a result that was measured there."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")
    repo = git.Repo.init(tiny, initial_branch="main")

    def make(subject: str, micros: float) -> str:
        (tiny / "kernels" / "note.txt").write_text(subject)
        repo.git.add("--all")
        repo.git.commit("-m", subject)
        state = {"name": "NVIDIA H200", "sm_mhz": 1980, "max_sm_mhz": 1980}
        environment = Environment(
            "cuda",
            "2026-11-21T16:00:00+00:00",
            "0.1.0",
            "",
            "3.11",
            before=state,
            sources={"tiny": repo.head.commit.hexsha},
        )
        noise = (1 + 0.001 * (i % 5) for i in range(20))
        row = Row(
            "tiny/elementwise/twice",
            "twice",
            "fictl",
            "twice-8-int32",
            {"n": 8},
            "int32",
            samples=tuple(micros * 1e-6 * one for one in noise),
        )
        path = tmp_path / f"{subject}.json"
        save(BenchReport(environment, (row,)), path)
        return str(path)

    return make


def test_results_become_a_history_with_verdicts(fictl, result, tiny: Path, tmp_path) -> None:
    first, second = result("first", 20.0), result("second", 30.0)
    said = fictl(
        "history", "twice", "--add", first, "--add", second, "--out", str(tmp_path / "h.md")
    )
    assert said.code == 0, said.err
    *_, newest, oldest = said.out.splitlines()
    assert newest.split()[2:5] == ["30.06", "us", "1.500x"]
    assert newest.endswith("second")
    assert "SLOWER" in newest
    assert oldest.endswith("first")
    assert (tmp_path / "h.md").read_text().count("SLOWER") == 1
    assert (tiny / "benchmarks" / "h200-1980" / "twice.jsonl").read_text().count("\n") == 2
    again = fictl("history", "twice", "--add", first, "--last", "1", "--json").document["data"]
    assert again["added"][0]["is_there"]
    (point,) = again["series"][0]["points"]
    assert (point["subject"], point["verdict"]) == ("second", "SLOWER")


def test_a_dry_run_writes_nothing_and_refuses_the_same(fictl, result, tiny, tmp_path) -> None:
    made = result("first", 20.0)
    out = tmp_path / "h.svg"
    said = fictl("history", "--add", made, "--branch", "times", "--out", str(out), "--dry-run")
    assert (said.code, "would get" in said.out) == (0, True)
    assert not out.exists()
    assert "times" not in git.Repo(tiny).heads
    refused = fictl("history", "--add", made, "--branch", "main", "--dry-run")
    assert (refused.code, "is checked out" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ((), 3, "there is no history of tiny/elementwise/twice"),
        (("--branch", "times"), 3, "in branch times"),
        (("--add", "absent.json"), 2, "absent.json"),
        (("--commit", "HEAD"), 2, "--commit is of what --add adds"),
        (("--out", "h.xml"), 2, "names no format"),
        (("--threshold", "2"), 2, "is not a share"),
    ],
)
def test_what_cannot_be_done_is_said(fictl, result, words, code, text) -> None:
    result("first", 20.0)
    said = fictl("history", "twice", *words)
    assert said.code == code
    assert text in said.err
