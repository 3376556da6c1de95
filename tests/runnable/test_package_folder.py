"""A solution's sources on disk are whole, are those given, and lie nowhere else."""

from __future__ import annotations

import os
import stat
from pathlib import PurePosixPath

import pytest

from fictl.errors import SetupError, UsageError
from fictl.runnable.package_folder import ensure_private, publish, put_in_place, read_file, staging

FILES = {"main.py": "one", "sub/other.py": "two"}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "python" / "package"


def content(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_the_files_are_there(folder):
    publish(folder, FILES)
    assert content(folder) == FILES
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


def test_what_is_right_is_left_alone(folder):
    publish(folder, FILES)
    (folder / "kept").touch()
    before = (folder / "main.py").stat()
    publish(folder, FILES)
    assert (folder / "main.py").stat() == before
    assert (folder / "kept").exists()


def damage_edit(folder, elsewhere):
    (folder / "main.py").write_text("else")


def damage_half(folder, elsewhere):
    (folder / "sub" / "other.py").unlink()


def damage_linked_file(folder, elsewhere):
    (folder / "main.py").unlink()
    (folder / "main.py").symlink_to(elsewhere / "main.py")


def damage_linked_sub(folder, elsewhere):
    os.rename(folder / "sub", folder / "moved")
    (folder / "sub").symlink_to(elsewhere / "sub")


def damage_linked_folder(folder, elsewhere):
    os.rename(folder, folder.with_name("moved"))
    folder.symlink_to(elsewhere)


def damage_pipe(folder, elsewhere):
    (folder / "main.py").unlink()
    os.mkfifo(folder / "main.py")


def damage_file(folder, elsewhere):
    os.rename(folder, folder.with_name("moved"))
    folder.write_text("a file")


@pytest.mark.parametrize(
    "damage",
    [
        damage_edit,
        damage_half,
        damage_linked_file,
        damage_linked_sub,
        damage_linked_folder,
        damage_pipe,
        damage_file,
    ],
)
def test_what_is_otherwise_is_replaced_and_no_link_is_followed(folder, tmp_path, damage):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "sub").mkdir(parents=True)
    for name, text in FILES.items():  # The right text, so that only the link tells.
        (elsewhere / name).write_text(text)
    publish(folder, FILES)
    damage(folder, elsewhere)
    publish(folder, FILES)
    assert not folder.is_symlink()
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    assert {name: content(folder)[name] for name in FILES} == FILES
    assert content(elsewhere) == FILES


@pytest.mark.parametrize(
    "path", ["/etc/x", "../x", "a/../../x", "a//b", "a\\b", "", ".", "./x", "a\0b", "a/"]
)
def test_paths_that_lead_out_are_refused(folder, path):
    with pytest.raises(UsageError, match="cannot be the path"):
        publish(folder, {path: "x"})
    assert not folder.parent.exists()


def test_too_much_text_is_refused(folder):
    with pytest.raises(UsageError, match="more than 16 MiB"):
        publish(folder, {"a": "x" * (16 << 20), "b": "y"})


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_is_refused(folder, mode):
    folder.parent.mkdir()
    folder.parent.chmod(mode)
    with pytest.raises(SetupError, match="others can write"):
        publish(folder, FILES)


def test_a_link_to_a_folder_is_refused(folder, tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    folder.parent.symlink_to(tmp_path / "real")
    with pytest.raises(SetupError, match="a link"):
        publish(folder, FILES)


def test_a_folder_that_cannot_be_made_is_an_error_of_the_machine(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="FICTL_CACHE_PATH"):
        ensure_private(tmp_path / "file" / "python")


def test_the_loser_of_a_race_leaves_what_is_there(folder):
    folder.mkdir(parents=True)
    (folder / "first").touch()
    with staging(folder) as fresh:
        (fresh / "second").touch()
        assert not put_in_place(fresh, folder)
    assert [path.name for path in folder.parent.rglob("*")] == ["package", "first"]


def test_only_ordinary_files_are_read(tmp_path):
    (tmp_path / "folder").mkdir()
    assert read_file(tmp_path, PurePosixPath("folder")) is None
    assert read_file(tmp_path, PurePosixPath("none")) is None
