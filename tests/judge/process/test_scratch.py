"""Folders of judges: this user's alone, and gone with the process that made them."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.judge.fault import JudgeFault
from fictl.judge.process.scratch import make_home, new_scratch, scratch_folder, scratch_root


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_nobody_else_looks_into_it() -> None:
    made = new_scratch("solution")
    assert made.stat().st_mode & 0o077 == 0
    assert scratch_root().stat().st_mode & 0o077 == 0


def test_a_folder_that_is_open_to_others_is_refused() -> None:
    scratch_root().chmod(0o755)
    with pytest.raises(SetupError, match="is open to other users"):
        new_scratch("solution")


def test_a_link_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (tmp_path / f"fictl-judges-{os.getuid()}").symlink_to(elsewhere)
    with pytest.raises(SetupError):
        scratch_root()


def test_however_deep_it_is_and_nobody_is_held_up() -> None:
    left = scratch_root() / f"{1 << 22}-solution-1"
    left.mkdir()
    handle = os.open(left, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)
    new_scratch("solution")
    assert not left.exists()


def test_what_cannot_be_removed_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    left = scratch_root() / f"{1 << 22}-solution-2"
    left.mkdir()
    (left / "file").touch()

    def refused(*words: object, **more: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refused)
        assert new_scratch("solution").is_dir()
        (kept,) = scratch_root().glob("left-*")
        assert new_scratch("solution").is_dir()
        assert [*scratch_root().glob("left-*")] == [kept]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EMFILE])
def test_no_room_is_a_fault_of_the_judge(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch_root()

    def refused(*words: object, **more: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(JudgeFault, match=os.strerror(number)) as caught:
        new_scratch("solution")
    assert caught.value.hint


def test_a_room_for_a_while_is_gone_afterwards() -> None:
    with scratch_folder("look") as made:
        (made / "file").touch()
    assert not made.exists()


@pytest.mark.parametrize("kind", ["nothing", "file", "link", "closed", "fifo"])
def test_a_process_finds_a_home_whatever_was_there(kind: str, tmp_path: Path) -> None:
    folder, outside = tmp_path / "work", tmp_path / "outside"
    outside.mkdir()
    if kind != "nothing":
        folder.mkdir()
    if kind == "file":
        (folder / "home").touch()
    elif kind == "link":
        (folder / "tmp").symlink_to(outside)
    elif kind == "fifo":
        os.mkfifo(folder / "home")
    elif kind == "closed":
        (folder / "home").mkdir(mode=0)
        folder.chmod(0o100)
    make_home(folder)
    for place in (folder, folder / "home", folder / "tmp"):
        assert place.is_dir()
        assert not place.is_symlink()
        assert place.stat().st_mode & 0o777 == 0o700
    assert [*outside.iterdir()] == []


def test_what_a_dead_process_left_goes() -> None:
    left = scratch_root() / f"{1 << 22}-solution-0"
    left.mkdir()
    (left / "file").write_text("")
    ours = new_scratch("reference")
    new_scratch("solution")
    assert not left.exists()
    assert ours.exists()
