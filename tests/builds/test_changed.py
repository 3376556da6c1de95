"""Which ops an edit touches, in a small repository."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from fictl.builds.changed import changed_since, split_words
from fictl.errors import UsageError
from fictl.project import OpFolder, find


@pytest.fixture
def repo(tiny: Path) -> git.Repo:
    """tiny_project, committed; its op is `twice`."""
    made = git.Repo.init(tiny)
    with made.config_writer() as config:
        config.set_value("user", "name", "nobody").set_value("user", "email", "no@body")
    commit(made)
    return made


def commit(repo: git.Repo) -> None:
    repo.git.add("--all")
    repo.index.commit("an edit")


def touched(revision: str = "HEAD") -> list[str]:
    return [folder.module for folder in changed_since(revision, find("twice"))]


def folder() -> OpFolder:
    return find("twice")[0]


def test_without_an_edit_there_is_none(repo) -> None:
    assert touched() == []


@pytest.mark.parametrize(
    "path",
    [
        "kernels/elementwise/twice/launcher.cu",
        "kernels/elementwise/twice/trace.py",
        "kernels/include/tiny/elementwise/twice.cuh",
        "tests/kernels/elementwise/test_twice.py",
    ],
)
def test_an_edit_of_a_source_a_header_the_reference_or_a_test_touches_the_op(
    repo, tiny: Path, path: str
) -> None:
    with (tiny / path).open("a") as file:
        file.write("\n")
    assert touched() == ["twice"]


def test_a_header_that_only_a_header_includes_counts(repo, tiny: Path) -> None:
    include = tiny / "kernels" / "include" / "tiny"
    (include / "inner.cuh").write_text("#pragma once\n")
    header = include / "elementwise" / "twice.cuh"
    header.write_text('#include "../inner.cuh"\n' + header.read_text())
    commit(repo)
    assert touched() == []
    (include / "inner.cuh").write_text("#pragma once\n// edited\n")
    assert touched() == ["twice"]


def test_what_another_op_is_made_of_does_not_count(repo, tiny: Path) -> None:
    other = tiny / "kernels" / "elementwise" / "other"
    other.mkdir()
    (other / "launcher.cu").write_text("// not ours\n")
    (tiny / "README.md").write_text("new\n")
    assert touched() == []


def test_a_new_file_counts_before_git_knows_it(repo) -> None:
    (folder().path / "launcher_sm90.cu").write_text("// new\n")
    assert touched() == ["twice"]


def test_a_file_that_is_gone_counts(repo) -> None:
    (folder().path / "trace.py").unlink()
    assert touched() == ["twice"]


@pytest.mark.parametrize("file", ["_table.py", "_plan/table.py"])
def test_what_the_family_shares_counts(repo, file: str) -> None:
    shared = folder().path.parent / file
    shared.parent.mkdir(exist_ok=True)
    shared.write_text("TABLE = 1\n")
    assert touched() == ["twice"]


def test_a_commit_counts_since_the_revision_before_it(repo) -> None:
    folder().test.write_text("def test_new(): pass\n")
    commit(repo)
    assert touched() == []
    assert touched("HEAD~1") == ["twice"]


def test_a_revision_that_there_is_not_is_said(repo) -> None:
    with pytest.raises(UsageError, match=r"'HEAD~99' is neither an op nor a revision"):
        touched("HEAD~99")


def test_a_revision_is_no_option_of_git(repo, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither an op nor a revision"):
        touched(f"--output={tmp_path / 'stolen'}")
    assert not (tmp_path / "stolen").exists()


def test_outside_of_a_repository_the_way_out_is_said(tiny: Path) -> None:
    with pytest.raises(UsageError, match="is not in a git repository") as caught:
        touched()
    assert "name the ops instead" in caught.value.hint


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], ([], "HEAD")),
        (["twice"], (["twice"], "HEAD")),
        (["HEAD~3"], ([], "HEAD~3")),
        (["twice", "main"], (["twice"], "main")),
    ],
)
def test_a_word_that_is_no_op_is_the_revision(tiny, words, wanted) -> None:
    assert split_words(words) == wanted


def test_two_words_that_are_no_ops_are_refused(tiny) -> None:
    with pytest.raises(UsageError, match="none of main, HEAD is an op"):
        split_words(["main", "HEAD"])
