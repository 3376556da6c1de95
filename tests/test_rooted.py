"""Access below a folder, which a link in it cannot lead out of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl import rooted


def test_a_new_file_is_there_once_it_is_whole_with_its_folders(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "file"
    with rooted.created(tmp_path, target) as file:
        file.write(b"whole")
        assert not target.exists()
    assert target.read_bytes() == b"whole"
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_an_interrupted_file_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), rooted.created(tmp_path, tmp_path / "file") as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_new_folders_and_files_have_the_permissions_around_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o2770)
    with rooted.created(tmp_path, tmp_path / "a" / "file"):
        pass
    assert (tmp_path / "a").stat().st_mode & 0o7777 == 0o2770
    assert (tmp_path / "a" / "file").stat().st_mode & 0o777 == 0o660


def test_neither_reading_nor_writing_follows_a_link_below_the_root(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (outside / "key").write_text("secret")
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "key")
    for name in ("folder/key", "file"):
        with pytest.raises(OSError):
            rooted.opened(root, root / name)
    with pytest.raises(OSError), rooted.created(root, root / "folder" / "new"):
        pass
    with rooted.created(root, root / "file") as file:
        file.write(b"ours")
    assert (outside / "key").read_text() == "secret"
    assert [path.name for path in outside.iterdir()] == ["key"]


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        rooted.opened(tmp_path, tmp_path / "pipe")
