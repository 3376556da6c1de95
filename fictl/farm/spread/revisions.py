"""Two revisions of a project as a small git repository, for places that have no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import FictlError, UsageError
from fictl.process import run
from fictl.project import Project
from fictl.project.revision import WORKING_TREE, commit_of, label_of

# Equal files shall make equal commits, so that their builds are found again.
_WHO = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (
        ("NAME", "fictl"),
        ("EMAIL", "fictl@localhost"),
        ("DATE", "2026-01-01T00:00:00Z"),
    )
}


@dataclass(frozen=True)
class SentRevisions:
    """Words for A and B that mean at a place what the given ones mean here, and their labels."""

    words: tuple[str, ...]
    labels: Mapping[str, str]


def sent_revisions(project: Project, revisions: Sequence[str], folder: Path) -> SentRevisions:
    """Write to `folder` a repository that has these revisions of the project's files alone.

    Of the shipped ops, a place has a repository of its own or none.
    """
    commits = {word: commit_of(project, word) for word in revisions if word != WORKING_TREE}
    if project.is_shipped:
        return SentRevisions(tuple(commits.get(word, word) for word in revisions), {})
    _git(folder, "init", "--quiet", "--template=", ".")
    lent = folder / ".git" / "objects" / "info" / "alternates"
    lent.parent.mkdir(parents=True, exist_ok=True)
    lent.write_text(f"{_objects_of(project.top)}\n", encoding="utf-8")
    words, labels = dict[str, str](), dict[str, str]()
    for number, (word, commit) in enumerate(commits.items()):
        tag = f"fictl-revision-{number}"
        own = _git(folder, "commit-tree", _tree(project, word, commit), "-m", tag)
        _git(folder, "update-ref", f"refs/tags/{tag}", own)
        words[word], labels[label_of(tag, own)] = tag, label_of(word, commit)
    _git(folder, "repack", "-a", "-d", "-q")
    lent.unlink()
    return SentRevisions(tuple(words.get(word, word) for word in revisions), labels)


def _tree(project: Project, word: str, commit: str) -> str:
    """Return the tree of the project's files at a commit."""
    inside = _git(project.top, "rev-parse", "--show-prefix")
    try:
        return _git(project.top, "rev-parse", "--verify", "--quiet", f"{commit}:{inside}")
    except FictlError:
        raise UsageError(
            f"{word} has no {inside}", f"the files of {project.name} are there"
        ) from None


def _objects_of(top: Path) -> Path:
    return (top / _git(top, "rev-parse", "--git-path", "objects")).resolve()


def _git(folder: Path, *words: str) -> str:
    done = run(["git", "-C", folder, *words], {**_WHO, "GIT_OPTIONAL_LOCKS": "0"})
    if done.code:
        raise FictlError(f"git {words[0]} failed in {folder}: {done.output.strip()}")
    return done.output.strip()
