from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl import paths


@pytest.mark.parametrize("name", ["kernels", "templates", "skills"])
def test_data_lies_beside_a_checkouts_package(monkeypatch, tmp_path, name):
    monkeypatch.setattr(paths, "PACKAGE", tmp_path / "fictl")
    assert paths.data_root(name) == tmp_path / name


def test_data_lies_inside_an_installed_package(monkeypatch, tmp_path):
    (tmp_path / "data" / "kernels").mkdir(parents=True)
    monkeypatch.setattr(paths, "PACKAGE", tmp_path)
    assert paths.data_root("kernels") == tmp_path / "data" / "kernels"


def test_the_cache_is_below_the_workspace_and_is_not_made(monkeypatch, tmp_path):
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / "w"))
    assert paths.cache_root() == tmp_path / "w" / ".cache" / "fictl"
    assert not (tmp_path / "w").exists()


def test_a_relative_workspace_is_made_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", "w")
    assert paths.cache_root() == tmp_path / "w" / ".cache" / "fictl"


def test_without_a_workspace_the_cache_is_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("FICTL_WORKSPACE_BASE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    root = paths.cache_root()
    assert root.name == "fictl"
    assert root.is_relative_to(tmp_path)


MOUNTS = """\
overlay / overlay rw 0 0
server:/home /home nfs4 rw 0 0
tmpfs /home/me/scratch tmpfs rw 0 0
lustre /data\\040sets lustre rw 0 0
sshfs /mnt/far fuse.sshfs rw 0 0
/dev/sdb /homes ext4 rw 0 0
"""


@pytest.mark.parametrize(
    ("where", "network"),
    [
        ("/opt/x", False),
        ("/home/me/.cache", True),
        ("/home", True),
        ("/home/me/scratch/x", False),
        ("/homes/me", False),
        ("/data sets/x", True),
        ("/mnt/far/x", True),
    ],
)
def test_the_innermost_mount_decides_whether_a_path_is_on_a_network(where, network):
    assert paths.on_network(Path(where), MOUNTS) is network


def test_a_mount_over_another_one_hides_it():
    assert paths.on_network(Path("/home/x"), MOUNTS + "tmpfs /home tmpfs rw 0 0\n") is False


def test_text_is_replaced_whole(tmp_path):
    target = tmp_path / "file"
    paths.write_atomic(target, "old")
    paths.write_atomic(target, "new\n")
    assert target.read_text() == "new\n"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_text_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "file"
    target.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        paths.write_atomic(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_folder_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        paths.write_atomic(tmp_path / "none" / "file", "text")
