"""Pulls into a cache that is full, read-only or not private: said in words, and nothing is half there."""

from __future__ import annotations

import re

import pytest

_FULL = """
mount -t tmpfs -o size={size}k tmpfs "$CACHE" || exit 99
fictl build twice; echo "code $?"
find "$CACHE" -path '*/staging/*'
find "$CACHE" -name module.so
mount -o remount,size=8m "$CACHE"
fictl build twice >/dev/null || exit 98
call
"""


@pytest.fixture
def shared(folder, sent):
    folder.hold(sent)
    return folder


@pytest.mark.parametrize("size", [4, 12, 20])
def test_a_full_disk_is_said_with_its_folder_and_nothing_is_half_there(
    shared, project, mounted, size
):
    answer = mounted(_FULL.format(size=size))
    assert answer.code == 0, answer.err
    code, *left, result = answer.out.splitlines()
    assert (code, left, result) == ("code 3", [], "42")
    assert "No space left on device" in answer.err
    assert str(project.root.parent / "mounted") in answer.err
    assert "FICTL_WORKSPACE_BASE" in answer.err


def test_a_read_only_cache_is_said_in_words(shared, project, mounted):
    answer = mounted('mount -t tmpfs -o ro tmpfs "$CACHE" || exit 99\nfictl build twice')
    assert answer.code == 3
    assert "Read-only file system" in answer.err
    assert "FICTL_WORKSPACE_BASE" in answer.err


def test_a_remote_that_is_full_costs_a_warning(folder, project, keys, mounted, tmp_path):
    answer = mounted(
        f"mount -t tmpfs -o size=8k tmpfs '{tmp_path}/shared folder' || exit 99\n"
        "fictl build twice && call",
        FICTL_REMOTE_MODE="write",
    )
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[-1] == "42"
    assert re.search("No space left on device", answer.err)


def test_a_cache_that_others_can_write_is_not_filled(shared, project, fictl_, pulled, tmp_path):
    top = tmp_path / "workspace" / ".cache" / "fictl" / "v1"
    top.mkdir(parents=True)
    top.chmod(0o777)
    answer = fictl_("build", "twice")
    assert answer.code == 3
    assert "can be written by others" in answer.err
    assert not list(top.rglob("module.so"))
