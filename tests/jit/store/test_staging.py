"""Private folders, one rename, and what killed builds leave."""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import subprocess

import pytest

from fictl.errors import SetupError
from fictl.jit.store.entry import MANIFEST
from fictl.jit.store.staging import publish, staging_folder
from fictl.jit.store.use import Removed


def _dead_pid():
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_a_staging_folder_is_private_and_gone_afterwards(tmp_path):
    with staging_folder(tmp_path) as one, staging_folder(tmp_path) as two:
        assert one != two
        assert one.is_dir()
        assert str(os.getpid()) in one.name
        (one / "x.o").touch()
    assert list((tmp_path / "staging").iterdir()) == []


def test_a_staging_folder_is_gone_after_an_error(tmp_path):
    with pytest.raises(KeyError), staging_folder(tmp_path):
        raise KeyError
    assert list((tmp_path / "staging").iterdir()) == []


def test_what_dead_builds_of_this_host_left_is_swept_and_nothing_else(tmp_path):
    names = {
        f"{platform.node()}+{_dead_pid()}+aa": False,
        f"{platform.node()}+{os.getpid()}+bb": True,
        f"elsewhere+{_dead_pid()}+cc": True,
        "unknown": True,
    }
    for name in names:
        (tmp_path / "staging" / name / "src").mkdir(parents=True)
    with staging_folder(tmp_path):
        there = {name: (tmp_path / "staging" / name).exists() for name in names}
    assert there == names


def test_a_disk_that_takes_no_more_is_said_in_words(tmp_path):
    with pytest.raises(SetupError, match="cannot write to the cache"), staging_folder(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list((tmp_path / "staging").iterdir()) == []


@pytest.fixture
def staged(tmp_path, fake_build):
    return fake_build(tmp_path / "staging" / "mine", build="b", content=b"mine").path


def test_publishing_moves_the_build_into_place(tmp_path, staged):
    entry = publish(staged, tmp_path / "recipe" / "b")
    assert entry.path == tmp_path / "recipe" / "b"
    assert entry.module.read_bytes() == b"mine"
    assert not staged.exists()


def test_the_second_of_two_writers_takes_the_first_one_s(tmp_path, staged, fake_build):
    fake_build(tmp_path / "recipe" / "b", content=b"theirs")
    assert publish(staged, tmp_path / "recipe" / "b").module.read_bytes() == b"theirs"


def test_a_broken_build_in_the_way_is_replaced(tmp_path, staged, fake_build):
    fake_build(tmp_path / "recipe" / "b").module.write_bytes(b"rotten")
    assert publish(staged, tmp_path / "recipe" / "b").module.read_bytes() == b"mine"


def test_a_whole_build_of_something_else_in_the_way_is_replaced(tmp_path, staged, fake_build):
    fake_build(tmp_path / "recipe" / "b", archs=("9.0",))
    assert publish(staged, tmp_path / "recipe" / "b").manifest.archs == ("8.0",)


def test_a_folder_without_a_manifest_in_the_way_is_replaced(tmp_path, staged, fake_build):
    (fake_build(tmp_path / "recipe" / "b").path / MANIFEST).unlink()
    assert publish(staged, tmp_path / "recipe" / "b").module.read_bytes() == b"mine"


def test_a_build_of_a_newer_fictl_in_the_way_stays(tmp_path, staged, fake_build):
    newer = fake_build(tmp_path / "recipe" / "b", content=b"newer").path
    (newer / MANIFEST).write_text(json.dumps({"schema": "fictl.build/2"}))
    with pytest.raises(SetupError, match="is taken: a newer fictl made it"):
        publish(staged, newer)
    assert (newer / "module.so").read_bytes() == b"newer"


def test_what_another_host_left_is_swept_after_a_day(tmp_path):
    old, new = (tmp_path / "staging" / f"elsewhere+1+{name}" for name in ("old", "new"))
    for path in (old, new):
        path.mkdir(parents=True)
    os.utime(old, (1, 1))
    with staging_folder(tmp_path):
        assert (old.exists(), new.exists()) == (False, True)


def test_a_build_that_is_cleared_by_force_while_it_is_published_is_said(
    tmp_path, staged, monkeypatch
):
    rename = os.rename

    def then_clear(source, target):
        rename(source, target)
        shutil.rmtree(target)

    monkeypatch.setattr("os.rename", then_clear)
    with pytest.raises(Removed, match="was cleared from the cache meanwhile"):
        publish(staged, tmp_path / "recipe" / "b")


def test_a_folder_that_is_cleared_away_before_the_rename_is_made_again(
    tmp_path, staged, monkeypatch
):
    rename, turns = os.rename, []

    def cleared_once(source, target):
        turns.append(target)
        if len(turns) == 1:
            target.parent.rmdir()
        rename(source, target)

    monkeypatch.setattr("os.rename", cleared_once)
    assert publish(staged, tmp_path / "recipe" / "b").module.read_bytes() == b"mine"
