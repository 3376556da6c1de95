"""The commit that a project's sources are of."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from fictl.errors import UsageError
from fictl.project import Project
from fictl.project.commit import commit_at, state_of


@pytest.fixture
def repo(tiny: Path) -> git.Repo:
    repo = git.Repo.init(tiny)
    repo.git.add("--all")
    repo.git.execute(
        [
            "git",
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@b",
            "commit",
            "-qm",
            "\x1b[2Jfirst\n\nbody",
        ]
    )
    return repo


def test_a_commit_has_its_hash_time_and_first_line(repo: git.Repo, tiny: Path) -> None:
    commit = commit_at(Project.at(tiny), "HEAD")
    assert commit.sha == repo.head.commit.hexsha
    assert commit.subject == "\\x1b[2Jfirst"
    assert commit.time[:2] == "20"
    with pytest.raises(UsageError):
        commit_at(Project.at(tiny), "nothing")


def test_a_change_of_the_kernels_shows_and_one_beside_them_does_not(repo, tiny: Path) -> None:
    project = Project.at(tiny)
    (tiny / "benchmarks").mkdir()
    (tiny / "benchmarks" / "now.json").write_text("{}")
    assert state_of(project) == repo.head.commit.hexsha
    (tiny / "kernels" / "new.cuh").write_text("// new\n")
    assert state_of(project) == f"{repo.head.commit.hexsha}+"


def test_without_a_repository_or_a_commit_there_is_none(tiny: Path) -> None:
    assert state_of(Project.at(tiny)) == ""
    git.Repo.init(tiny)
    assert state_of(Project.at(tiny)) == ""
