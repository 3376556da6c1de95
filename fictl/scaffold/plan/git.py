"""Git's state of files that a scaffold touches, and one commit of exactly these."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.errors import FictlError, SetupError
from fictl.paths import real

if TYPE_CHECKING:
    from git import Repo


def uncommitted(paths: Sequence[Path]) -> tuple[Path, ...]:
    """Those of `paths` that are there and not as in the last commit; none where git does not say."""
    try:
        repo = _repository(paths)
        return _differing(repo, paths) if repo else ()
    except FictlError:
        return ()


def commit(paths: Sequence[Path], message: str) -> str:
    """Commit what has become of `paths`, deleted ones too, and nothing else: the new commit's hash.

    What else is staged stays staged. Empty where there is nothing to commit.
    """
    repo = require_repository(paths)
    known = [
        path for path in paths if os.path.exists(path) or _git(repo, "ls-files", "--", str(path))
    ]
    names = [str(path) for path in known]
    if not names or not _git(repo, "status", "--porcelain", "--", *names):
        return ""
    with _index_kept_on_failure(repo):
        _git(repo, "add", "--all", "--", *names)
        _git(repo, "commit", "--quiet", "--only", f"--message={message}", "--", *names)
    return _git(repo, "rev-parse", "HEAD")


def require_repository(paths: Sequence[Path]) -> Repo:
    """One that takes a commit of them; to be asked before anything is written."""
    repo = _repository(paths)
    if repo is None:
        raise SetupError(f"{paths[0].parent} is not in a git repository", "git init")
    _refuse_detached(repo)
    return repo


def _repository(paths: Sequence[Path]) -> Repo | None:
    """The one that the first path is in. Outside of any git is not even imported."""
    above = paths[0].absolute().parents if paths else ()
    root = next((folder for folder in above if os.path.exists(folder / ".git")), None)
    if root is None:
        return None
    try:
        from git import Repo
        from git.exc import GitError
    except ImportError as error:
        reason = str(error).strip().partition("\n")[0]
        raise SetupError(f"git cannot be run: {reason}", "install git") from error
    try:
        repo = Repo(root)
    except (GitError, OSError) as error:
        reason = f"{root} is a git repository that cannot be read: {error}"
        raise SetupError(reason, "git status") from error
    if repo.bare:
        raise SetupError(f"the git repository {root} is bare", "work in a clone of it")
    return repo


def _differing(repo: Repo, paths: Sequence[Path]) -> tuple[Path, ...]:
    there = [str(path) for path in paths if os.path.exists(path)]
    if not there:
        return ()
    options = ("--porcelain", "-z", "--no-renames", "--untracked-files=all")
    root = real(Path(str(repo.working_tree_dir)))
    entries = _git(repo, "status", *options, "--", *there).split("\0")
    changed = {root / entry[3:] for entry in entries if entry}
    return tuple(path for path in paths if real(path) in changed)


def _refuse_detached(repo: Repo) -> None:
    if repo.head.is_detached:
        raise FictlError(
            f"HEAD of {repo.working_tree_dir} is detached: no branch would have the commit",
            "git switch BRANCH, then once more",
        )


@contextmanager
def _index_kept_on_failure(repo: Repo) -> Iterator[None]:
    """A commit that is refused, as by a hook, leaves staged what was staged before."""
    index = Path(repo.index.path)
    before = index.read_bytes() if os.path.exists(index) else None
    try:
        yield
    except BaseException:
        if before is None:
            index.unlink(missing_ok=True)
        else:
            index.write_bytes(before)
        raise


def _git(repo: Repo, *words: str) -> str:
    from git.exc import GitError

    try:
        code, output, errors = repo.git.execute(
            ["git", *words], with_extended_output=True, with_exceptions=False
        )
    except GitError as error:
        raise SetupError(f"git cannot be run: {error}", "install git") from error
    if code:
        message = str(errors).strip() or str(output).strip() or f"exit code {code}"
        raise FictlError(f"git {words[0]} failed: {message}", "git is as it was before")
    return str(output)
