"""Checks out a project at a git revision, in a temporary worktree that is removed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, SetupError, UsageError
from fictl.project import Project, select
from fictl.project.config import OWN_FILE, SHARED_FILE, read_config

WORKING_TREE = "."
_SHORT = 7


@dataclass(frozen=True)
class Checkout:
    """A project at a revision, with its own name and package.

    label: a description of the revision for people.
    """

    label: str
    project: Project


@contextmanager
def checkout(project: Project, revision: str) -> Iterator[Checkout]:
    """Check out `project` at `revision`; '.' is the working tree, with its uncommitted changes."""
    if revision == WORKING_TREE:
        yield Checkout("working tree", project)
        return
    repo = repository(project.root)
    commit = commit_of(project, revision)
    label = label_of(revision, commit)
    inside = project.root.relative_to(Path(repo.working_tree_dir).resolve())
    with _worktree(repo, commit) as root:
        yield Checkout(label, _renamed(root / inside, commit[:_SHORT], label))


def commit_of(project: Project, revision: str) -> str:
    """Return the full hash of a revision."""
    commit = _commit(repository(project.root), revision)
    if not commit:
        raise UsageError(f"there is no revision {revision!r}", "git log --oneline lists them")
    return commit


def label_of(revision: str, commit: str) -> str:
    """Describe a revision for people."""
    return revision if commit.startswith(revision) else f"{revision} ({commit[:_SHORT]})"


def is_revision(word: str, root: Path) -> bool:
    try:
        return bool(_commit(repository(root), word))
    except SetupError:
        return False


def project_of(ops: Sequence[str]) -> Project:
    """Return the one project of these ops; without ops, the project here."""
    if not ops:
        return Project.at()
    projects = {folder.project for folder in select(ops)}
    if len(projects) > 1:
        names = ", ".join(sorted(project.name for project in projects))
        raise UsageError(f"the ops are of several projects: {names}", "compare one at a time")
    return projects.pop()


def repository(root: Path) -> Any:
    try:
        import git
    except ImportError as error:
        raise SetupError(f"git cannot be used: {error}", "install git") from error
    try:
        return git.Repo(root, search_parent_directories=True)
    except git.InvalidGitRepositoryError:
        raise SetupError(
            f"{root} lies in no git repository", "revisions are those of a git repository"
        ) from None


def _commit(repo: Any, revision: str) -> str:
    """Return the full hash of a revision; '' if it does not exist."""
    import git

    if revision.startswith("-"):
        return ""
    try:
        return str(repo.git.rev_parse("--verify", "--quiet", f"{revision}^{{commit}}"))
    except git.GitCommandError:
        return ""


@contextmanager
def _worktree(repo: Any, commit: str) -> Iterator[Path]:
    import git

    with tempfile.TemporaryDirectory(prefix="fictl-compare-") as folder:
        root = Path(folder).resolve() / commit[:_SHORT]
        try:
            repo.git.worktree("add", "--detach", str(root), commit)
        except git.GitCommandError as error:
            raise FictlError(
                f"git cannot check out {commit[:_SHORT]}: {error.stderr.strip()}",
                "git worktree list shows what is checked out",
            ) from error
        try:
            yield root
        finally:
            repo.git.worktree("remove", "--force", str(root))


def _renamed(folder: Path, short: str, label: str) -> Project:
    """Rename a checkout, so that two revisions can be imported and built side by side."""
    files = (folder / name for name in (OWN_FILE, SHARED_FILE))
    config = next(filter(None, (read_config(path) for path in files if os.path.isfile(path))), None)
    if config is None:
        raise UsageError(f"{label} has no project at {folder}", f"it has no {OWN_FILE} there")
    package = (config.package or config.name).replace(".", "_")
    own = replace(config, name=f"{config.name}_{short}", package=f"{package}_{short}", templates="")
    # Valid in TOML too: JSON strings without surrogate escapes are TOML strings.
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in asdict(own).items() if value]
    (folder / OWN_FILE).write_text("".join(lines), encoding="utf-8")
    project = Project.of(folder)
    assert project is not None
    return project
