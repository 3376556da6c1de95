"""A lock file in a folder where every user may have put anything."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.gpu_lock.lock_file import LockFile
from tests.gpu_lock.holders import BECOME, NOBODY, needs_root

NAME = "fictl-gpu-aa.lock"


def test_it_is_readable_for_all_whatever_the_umask_and_nothing_else_is_left(locks: Path) -> None:
    before = os.umask(0o077)
    try:
        LockFile(locks, "aa").close()
    finally:
        os.umask(before)
    assert [path.name for path in locks.iterdir()] == [NAME]
    assert (locks / NAME).stat().st_mode & 0o777 == 0o644


def test_one_holds_it_alone_or_several_together(locks: Path) -> None:
    first, second = LockFile(locks, "aa"), LockFile(locks, "aa")
    assert first.take(shared=True)
    assert second.take(shared=True)
    assert not second.take(shared=False)
    first.close()
    assert second.take(shared=False)
    third = LockFile(locks, "aa")
    assert not third.take(shared=True)
    second.close()
    third.close()


def test_another_gpu_is_another_lock(locks: Path) -> None:
    first, second = LockFile(locks, "aa"), LockFile(locks, "bb")
    assert first.take(shared=False)
    assert second.take(shared=False)
    first.close()
    second.close()


def test_a_link_is_not_followed(locks: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("kept")
    (locks / NAME).symlink_to(target)
    with pytest.raises(SetupError, match=r"cannot be used: Too many levels.*belongs to user \w+"):
        LockFile(locks, "aa")
    assert target.read_text() == "kept"
    (locks / NAME).unlink()
    (locks / NAME).symlink_to(tmp_path / "new")
    with pytest.raises(SetupError, match="cannot be used"):
        LockFile(locks, "aa")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket"])
def test_what_is_not_a_file_is_refused_and_nothing_waits_for_it(locks: Path, kind: str) -> None:
    import socket

    path = locks / NAME
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    with pytest.raises(SetupError, match="cannot be used") as caught:
        LockFile(locks, "aa")
    assert "FICTL_GPU_LOCK_DIR" in caught.value.hint


def test_a_file_that_was_removed_is_not_taken_for_its_successor(locks: Path) -> None:
    old, new = LockFile(locks, "aa"), None
    (locks / NAME).unlink()
    new = LockFile(locks, "aa")
    assert new.take(shared=False)
    assert not old.take(shared=False)
    new.close()
    assert old.take(shared=False)
    old.close()


def test_many_that_create_it_at_once_have_one_file(locks: Path) -> None:
    ready = threading.Barrier(16)
    taken: list[bool] = []
    files: list[LockFile] = []

    def create() -> None:
        ready.wait()
        files.append(LockFile(locks, "aa"))
        taken.append(files[-1].take(shared=False))

    threads = [threading.Thread(target=create) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(taken) == 1
    assert [path.name for path in locks.iterdir()] == [NAME]
    for file in files:
        file.close()


@needs_root
def test_a_file_that_another_user_keeps_to_himself_is_said(locks: Path) -> None:
    """Not waited for: nobody can tell whether it is locked."""
    path = locks / NAME
    path.touch(0o600)
    code = f"{BECOME}\nimport sys\nfrom pathlib import Path\n"
    code += "from fictl.gpu_lock.lock_file import LockFile\n"
    code += f"become({NOBODY})\nLockFile(Path(sys.argv[1]), 'aa')"
    done = subprocess.run(
        [sys.executable, "-c", code, locks],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot be used: Permission denied; it belongs to user root" in done.stderr
