from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import FictlError, SetupError
from fictl.scaffold.plan.git import commit, uncommitted

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Run git in a repository with one committed file, `old.txt`."""
    # Why: the settings of whoever runs the tests are not theirs.
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "a")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.com")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    def run(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

    run("init", "--quiet", "--initial-branch=main")
    (tmp_path / "old.txt").write_text("old\n", encoding="utf-8")
    run("add", "old.txt")
    run("commit", "--quiet", "--message=first")
    return run


def written(path: Path, text: str = "new\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_as_in_the_last_commit_is_not_uncommitted(git: Git, tmp_path: Path) -> None:
    assert uncommitted([tmp_path / "old.txt"]) == ()


def test_edited_staged_and_unknown_files_are_uncommitted(git: Git, tmp_path: Path) -> None:
    edited, staged = written(tmp_path / "old.txt"), written(tmp_path / "a b/staged ü.txt")
    unknown = written(tmp_path / "c/d/unknown.txt")
    git("add", str(staged))
    assert uncommitted([edited, staged, unknown]) == (edited, staged, unknown)


def test_a_file_that_is_not_there_is_not_uncommitted(git: Git, tmp_path: Path) -> None:
    assert uncommitted([tmp_path / "none.txt", written(tmp_path / "x")]) == (tmp_path / "x",)


def test_no_paths_are_not_uncommitted() -> None:
    assert uncommitted([]) == ()


def test_a_commit_has_these_files_and_nothing_else(git: Git, tmp_path: Path) -> None:
    staged, path = written(tmp_path / "staged.txt"), written(tmp_path / "new/a.txt")
    git("add", "staged.txt")
    written(tmp_path / "old.txt", "edited\n")
    made = commit([path], "fictl new-op a")
    assert git("show", "--format=%H %s", "--name-only").split("\n\n") == [
        f"{made} fictl new-op a",
        "new/a.txt",
    ]
    assert git("status", "--porcelain") == " M old.txt\nA  staged.txt"
    assert uncommitted([path, staged]) == (staged,)


def test_a_commit_has_deletions_too(git: Git, tmp_path: Path) -> None:
    (tmp_path / "old.txt").unlink()
    commit([tmp_path / "old.txt", tmp_path / "never.txt"], "gone")
    assert git("ls-files") == ""


def test_where_nothing_differs_there_is_no_commit(git: Git, tmp_path: Path) -> None:
    assert commit([tmp_path / "old.txt"], "nothing") == ""
    assert git("log", "--format=%s") == "first"


def test_the_first_commit_of_a_repository_can_be_ours(git: Git, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path / "inner"], check=True)
    path = written(tmp_path / "inner/a.txt")
    assert len(commit([path], "first")) == 40


def test_a_hook_that_refuses_is_quoted_and_the_index_is_as_before(git: Git, tmp_path: Path) -> None:
    hook = written(
        tmp_path / ".git/hooks/pre-commit", "#!/bin/sh\necho no tabs please >&2\nexit 1\n"
    )
    hook.chmod(0o755)
    path, staged = written(tmp_path / "new.txt"), written(tmp_path / "staged.txt")
    git("add", "staged.txt")
    with pytest.raises(FictlError, match="git commit failed: no tabs please"):
        commit([path], "new")
    assert git("status", "--porcelain") == f"A  {staged.name}\n?? new.txt"


def test_an_ignored_file_is_not_forced_in(git: Git, tmp_path: Path) -> None:
    written(tmp_path / ".gitignore", "*.log\n")
    with pytest.raises(FictlError, match=r"git add failed(?s:.)*ignored"):
        commit([written(tmp_path / "a.log"), written(tmp_path / "a.txt")], "new")


def test_outside_of_a_repository_there_is_nothing_to_commit_to(tmp_path: Path) -> None:
    path = written(tmp_path / "new.txt")
    assert uncommitted([path]) == ()
    with pytest.raises(SetupError, match="is not in a git repository"):
        commit([path], "new")


def test_a_detached_head_gets_no_commit(git: Git, tmp_path: Path) -> None:
    git("switch", "--quiet", "--detach")
    with pytest.raises(FictlError, match="is detached"):
        commit([written(tmp_path / "new.txt")], "new")


def test_a_bare_repository_gets_no_commit(git: Git, tmp_path: Path) -> None:
    git("config", "core.bare", "true")
    path = written(tmp_path / "new.txt")
    assert uncommitted([path]) == ()
    with pytest.raises(SetupError, match="is bare"):
        commit([path], "new")


def test_a_broken_repository_is_named(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(SetupError, match="cannot be read"):
        commit([written(tmp_path / "new.txt")], "new")


def test_without_a_program_git_it_is_said(git: Git, tmp_path: Path) -> None:
    path = written(tmp_path / "new.txt")
    code = (
        "from pathlib import Path\n"
        "from fictl.scaffold.plan.git import commit, uncommitted\n"
        f"path = Path({str(path)!r})\n"
        "assert uncommitted([path]) == ()\n"
        "try: commit([path], 'new')\n"
        "except Exception as error: print(error)\n"
    )
    env = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.startswith("git cannot be run: "), done.stderr
    assert "install git" in done.stdout


def test_outside_of_a_repository_git_is_not_imported(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from fictl.scaffold.plan.git import uncommitted\n"
        f"uncommitted([Path({str(tmp_path / 'x')!r})])\n"
        "print('git' in sys.modules)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
