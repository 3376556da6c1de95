"""Ops that an edit affects, by git's list of changed files and the headers that ops include."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fictl.errors import SetupError, UsageError
from fictl.jit.sources import reach
from fictl.paths import files_below, real
from fictl.project import OpFolder, find

_INCLUDING = (".cu", ".cuh", ".cpp", ".h", ".jinja")
_NAME_THEM = "name the ops instead: fictl test OP"


def split_words(words: Sequence[str]) -> tuple[list[str], str]:
    """Split the words into names of ops and the revision to compare with."""
    names = [word for word in words if _is_op(word)]
    revisions = [word for word in words if word not in names] or ["HEAD"]
    if len(revisions) > 1:
        raise UsageError(f"none of {', '.join(revisions)} is an op", "name one revision at most")
    return names, revisions[0]


def changed_since(revision: str, folders: Iterable[OpFolder]) -> tuple[OpFolder, ...]:
    """Find ops with a file, a test or a header that differs from the revision, committed or not."""
    folders = tuple(folders)
    roots = dict.fromkeys(folder.project.root for folder in folders)
    changed = {path for root in roots for path in _changed_files(root, revision)}
    return tuple(folder for folder in folders if not changed.isdisjoint(files_of(folder, changed)))


def files_of(folder: OpFolder, changed: Iterable[Path] = ()) -> Iterator[Path]:
    """Yield the files of an op, and the `changed` files of its folder, deleted ones too."""
    own = real(folder.path)
    yield real(folder.test)
    yield from (real(path) for path in folder.tests)
    yield from (path for path in changed if own in path.parents or folder.is_test(path))
    yield from (real(path) for path in folder.family_files())
    sources = [path for path in files_below(folder.path) if path.suffix in _INCLUDING]
    reached = reach([*sources, *folder.headers], folder.path, folder.project.include_dirs)
    yield from (real(path) for path in reached.files.values())


def _is_op(word: str) -> bool:
    try:
        return bool(find(word))
    except UsageError:
        return False


def _changed_files(root: Path, revision: str) -> Iterator[Path]:
    try:
        import git
    except ImportError as error:  # GitPython searches for git on import.
        raise SetupError(f"git cannot be used: {error}", _NAME_THEM) from error
    try:
        repo = git.Repo(root, search_parent_directories=True)
    except git.InvalidGitRepositoryError:
        raise UsageError(f"{root} is not in a git repository", _NAME_THEM) from None
    with repo:
        try:
            # Why not the word itself: git would read `--output=…` as an option.
            commit = repo.git.rev_parse("--verify", f"{revision}^{{commit}}")
        except git.GitCommandError:
            raise UsageError(
                f"{revision!r} is neither an op nor a revision of {root}",
                "as in HEAD~3, a branch or a tag; fictl list shows the ops",
            ) from None
        names = repo.git.diff("--name-only", "-z", "--no-renames", commit, "--").split("\0")
        tree = real(Path(repo.working_dir))
        yield from (tree / name for name in (*names, *repo.untracked_files) if name)
