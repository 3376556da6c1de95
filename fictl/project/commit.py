"""Commits that the sources of a project are of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from fictl.errors import SetupError
from fictl.printable import printable
from fictl.project import Project
from fictl.project.config import OWN_FILE, SHARED_FILE
from fictl.project.revision import commit_of, repository

# What follows the hash of a commit if files of the kernels differ from it.
CHANGED = "+"
_LONGEST_SUBJECT = 80


@dataclass(frozen=True)
class Commit:
    """A commit: its hash, when it was committed (ISO 8601), and the first line of its message."""

    sha: str
    time: str
    subject: str

    @property
    def short(self) -> str:
        return self.sha[:7]


def commit_at(project: Project, revision: str) -> Commit:
    sha = commit_of(project, revision)
    shown = repository(project.root).git.show("--no-patch", "--format=%ct%n%s", sha)
    seconds, _, subject = str(shown).partition("\n")
    time = datetime.fromtimestamp(int(seconds), timezone.utc).isoformat()
    return Commit(sha, time, printable(subject, "")[:_LONGEST_SUBJECT])


def state_of(project: Project) -> str:
    """Return the commit of a project's sources, with `+` if they differ; '' if there is none."""
    try:
        import git

        repo = repository(project.root)
    except (ImportError, SetupError):
        return ""
    try:
        head = str(repo.git.rev_parse("--verify", "--quiet", "HEAD"))
        return head + (CHANGED if _is_changed(repo, project) else "")
    except git.GitCommandError:
        return ""


def _is_changed(repo: Any, project: Project) -> bool:
    """Look at what a kernel is made of: results beside it may come and go."""
    files = (project.root / name for name in (OWN_FILE, SHARED_FILE))
    places = [str(project.kernels), *(str(path) for path in files if os.path.isfile(path))]
    return bool(repo.git.status("--porcelain", "--", *places))
