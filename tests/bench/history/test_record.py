"""Results become entries, in the working tree and on a branch."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from fictl.bench.history.branch_history import BranchHistory
from fictl.bench.history.keeping import FolderHistory, HistoryKeeping
from fictl.bench.history.record import add, additions, read_entries
from fictl.bench.result import save
from fictl.errors import FictlError, SetupError, UsageError

FILE = "h200-1980/twice.jsonl"


@pytest.fixture(params=["folder", "branch"])
def kept(request: pytest.FixtureRequest, commits, project) -> HistoryKeeping:
    return FolderHistory(project) if request.param == "folder" else BranchHistory(project, "times")


@pytest.fixture
def result(tmp_path: Path, make_result):
    def make(micros: float, *facts: object, **changes: object) -> Path:
        path = tmp_path / f"{micros}.json"
        save(make_result(micros, *facts, **changes), path)
        return path

    return make


def test_what_is_added_is_read_and_once_only(kept, folders, commits, result) -> None:
    paths = [result(20.0, commits[0]), result(21.0, commits[1])]
    for _ in range(2):
        add(kept, additions(kept, paths[:1], folders, ""))
    add(kept, additions(kept, paths, folders, ""))
    entries = read_entries(kept, folders)
    assert [entry.commit.sha for entry in entries] == commits[:2]
    assert entries[0].commit.subject == "step 0"
    assert entries[0].commit.time == "2026-11-20T10:00:00+00:00"
    assert [one.is_there for one in additions(kept, paths, folders, "")] == [True, True]


def test_a_branch_grows_by_commits_and_the_working_tree_stays(
    project, folders, commits, result, tiny
) -> None:
    kept = BranchHistory(project, "times")
    repo = git.Repo(tiny)
    for sha, micros in zip(commits, (20.0, 21.0), strict=False):
        add(kept, additions(kept, [result(micros, sha)], folders, ""))
    log = repo.git.log("--format=%s", "times").splitlines()
    assert log == [f"bench: times of {sha[:7]}" for sha in (commits[1], commits[0])]
    assert repo.git.ls_tree("-r", "--name-only", "times") == f"benchmarks/{FILE}"
    assert repo.git.status("--porcelain") == ""
    assert not (tiny / "benchmarks").exists()


def test_what_another_process_adds_meanwhile_is_kept(
    project, folders, commits, result, monkeypatch
) -> None:
    kept = BranchHistory(project, "times")
    first, second = (
        additions(kept, [result(micros, sha)], folders, "")
        for micros, sha in ((20.0, commits[0]), (21.0, commits[1]))
    )
    honest = BranchHistory._commit
    turns = iter([True])

    def slow(self, *facts):
        if next(turns, False):
            add(kept, second)
        return honest(self, *facts)

    monkeypatch.setattr(BranchHistory, "_commit", slow)
    add(kept, first)
    assert {entry.commit.sha for entry in read_entries(kept, folders)} == {*commits[:2]}


@pytest.mark.parametrize("name", ["main", "-x", "a..b", "HEAD~1", "", "a b", "x.lock", "@{1}"])
def test_a_branch_that_cannot_keep_it_is_refused(project, commits, name: str) -> None:
    with pytest.raises(UsageError, match="--branch"):
        BranchHistory(project, name).read()


def test_a_link_on_a_branch_is_no_history(project, commits, folders, tiny) -> None:
    repo = git.Repo(tiny)
    (tiny / "secret").write_text("/etc/passwd")
    blob = repo.git.hash_object("-w", str(tiny / "secret"))
    own = {"GIT_INDEX_FILE": str(tiny / ".git" / "other")}
    repo.git.update_index("--add", "--cacheinfo", f"120000,{blob},benchmarks/{FILE}", env=own)
    tree = repo.git.write_tree(env=own)
    repo.git.update_ref("refs/heads/times", repo.git.commit_tree(tree, "-m", "x"))
    with pytest.raises(UsageError, match="is not a history"):
        read_entries(BranchHistory(project, "times"), folders)


def test_a_commit_is_what_the_result_names_or_what_is_said(kept, folders, commits, result) -> None:
    with pytest.raises(SetupError, match="does not say which commit of tiny"):
        additions(kept, [result(20.0)], folders, "")
    with pytest.raises(UsageError, match="measured with changes"):
        additions(kept, [result(20.0, commits[0] + "+")], folders, "")
    (addition,) = additions(kept, [result(20.0)], folders, "HEAD~2")
    assert addition.entry.commit.sha == commits[0]
    with pytest.raises(UsageError, match="there is no revision"):
        additions(kept, [result(20.0, "f" * 40)], folders, "")
    with pytest.raises(UsageError, match="there is no revision"):
        additions(kept, [result(20.0)], folders, "--output=x")


def test_what_is_no_time_of_these_ops_is_refused(
    kept, folders, commits, tmp_path, make_result, result
) -> None:
    from dataclasses import replace

    report = make_result(20.0, commits[0])
    emulated = replace(report, environment=replace(report.environment, device="emu"))
    save(emulated, tmp_path / "emu.json")
    with pytest.raises(UsageError, match="no times of a GPU"):
        additions(kept, [tmp_path / "emu.json"], folders, "")
    with pytest.raises(UsageError, match="has no row of tiny/elementwise/twice"):
        additions(kept, [result(20.0, commits[0], op="tiny/elementwise/thrice")], folders, "")


def test_a_line_that_cannot_be_read_is_named(folders, project, commits) -> None:
    path = project.root / "benchmarks" / FILE
    path.parent.mkdir(parents=True)
    path.write_text("\nnot json\n")
    with pytest.raises(UsageError, match=r"twice.jsonl:2 is not an entry"):
        read_entries(FolderHistory(project), folders)


def test_a_commit_that_git_refuses_is_said(project, folders, commits, result, monkeypatch) -> None:
    kept = BranchHistory(project, "times")
    new = additions(kept, [result(20.0, commits[0])], folders, "")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "no date")
    with pytest.raises(FictlError, match="git commit-tree failed"):
        add(kept, new)
