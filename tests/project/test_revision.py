"""A project at a revision: under a name of its own, and gone afterwards."""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from fictl.errors import SetupError, UsageError
from fictl.project import Project, folders
from fictl.project.revision import checkout, is_revision


def test_it_holds_the_sources_of_then(history, tiny) -> None:
    bench = tiny / "kernels" / "elementwise" / "twice" / "bench.py"
    before = bench.read_text(encoding="utf-8")
    bench.write_text("# edited\n", encoding="utf-8")
    with checkout(Project.at(), "HEAD") as found:
        (folder,) = folders(found.project)
        assert folder.bench.read_text(encoding="utf-8") == before
        assert bench.read_text(encoding="utf-8") == "# edited\n"


def test_it_has_a_name_of_its_own(history) -> None:
    commit = history("second")
    with checkout(Project.at(), "HEAD") as found:
        assert found.label == f"HEAD ({commit[:7]})"
        assert found.project.name == found.project.package == f"tiny_{commit[:7]}"
        assert found.project.archs == "8.0"


def test_a_project_in_a_pyproject_has_one_too(tiny, history) -> None:
    (tiny / "fictl.toml").unlink()
    text = '[tool.fictl]\nname = "tiny"\npackage = "tiny.kernels"\n'
    (tiny / "pyproject.toml").write_text(text, encoding="utf-8")
    commit = history("moved")
    with checkout(Project.at(), "HEAD") as found:
        assert found.project.package == f"tiny_kernels_{commit[:7]}"


def test_a_project_below_the_top_of_the_repository_is_found(tmp_path, history, tiny) -> None:
    below = tiny / "below"
    below.mkdir()
    for name in ("fictl.toml", "kernels"):
        (tiny / name).rename(below / name)
    history("moved")
    with checkout(Project.at(below), "HEAD") as found:
        assert found.project.root.name == "below"
        assert len(folders(found.project)) == 1


def test_a_hash_is_its_own_label(history) -> None:
    commit = history("second")
    with checkout(Project.at(), commit[:9]) as found:
        assert found.label == commit[:9]


def test_the_working_tree_is_the_project_itself(history) -> None:
    with checkout(Project.at(), ".") as found:
        assert (found.label, found.project) == ("working tree", Project.at())


def test_nothing_of_it_stays(history, tiny) -> None:
    with checkout(Project.at(), "HEAD") as found:
        root = found.project.root
    assert not root.parent.exists()
    assert len(git.Repo(tiny).git.worktree("list").splitlines()) == 1


def test_nothing_of_it_stays_after_an_error(history, tiny) -> None:
    roots: list[Path] = []
    with pytest.raises(KeyboardInterrupt), checkout(Project.at(), "HEAD") as found:
        roots.append(found.project.root)
        raise KeyboardInterrupt
    assert not roots[0].parent.exists()
    assert len(git.Repo(tiny).git.worktree("list").splitlines()) == 1


def test_an_unknown_revision_is_named(history) -> None:
    with (
        pytest.raises(UsageError, match="no revision 'nonsense'"),
        checkout(Project.at(), "nonsense"),
    ):
        pass


def test_a_revision_without_the_project_is_refused(tiny, history) -> None:
    text = (tiny / "fictl.toml").read_text(encoding="utf-8")
    (tiny / "fictl.toml").unlink()
    history("without")
    (tiny / "fictl.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="has no project at"), checkout(Project.at(), "HEAD"):
        pass


def test_outside_of_a_repository_there_are_no_revisions(tiny) -> None:
    with (
        pytest.raises(SetupError, match="lies in no git repository"),
        checkout(Project.at(), "HEAD"),
    ):
        pass


@pytest.mark.parametrize(
    ("word", "known"), [("HEAD", True), ("HEAD~9", False), ("nonsense", False), ("--all", False)]
)
def test_what_is_a_revision(history, tiny, word: str, known: bool) -> None:
    assert is_revision(word, tiny) is known
