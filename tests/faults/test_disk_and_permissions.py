"""A cache that is full, read-only, not private or not there, and paths of every kind."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

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


@pytest.mark.parametrize("size", range(4, 48, 8))
def test_a_full_disk_is_said_with_its_folder_and_nothing_is_half_there(project, mounted, size):
    """4 KiB hold the lock, 44 all but the manifest: each size fails at another step."""
    answer = mounted(_FULL.format(size=size))
    assert answer.code == 0
    code, *left, result = answer.out.splitlines()
    assert (code, left, result) == ("code 3", [], "42")
    assert "No space left on device" in answer.err
    assert str(project.root.parent / "mounted") in answer.err
    assert "free some space, or set FICTL_WORKSPACE_BASE" in answer.err


def test_a_used_up_quota_is_said_in_words(project, fictl_, script):
    said = "as: launcher.o: Disk quota exceeded"
    answer = fictl_(
        "build", "twice", FICTL_NVCC_LAUNCHER=script("as", f"echo '{said}' >&2; exit 1")
    )
    assert answer.code == 3
    assert said in answer.err
    assert "FICTL_WORKSPACE_BASE" in answer.err


def test_a_read_only_cache_serves_what_it_has_and_refuses_the_rest(project, mounted):
    answer = mounted(
        'mount -t tmpfs tmpfs "$CACHE" && fictl build twice >/dev/null || exit 99\n'
        'mount -o remount,ro "$CACHE"\n'
        'call; fictl build twice; echo "code $?"; fictl build twice --arch 9.0; echo "code $?"\n'
    )
    result, hit, _, first, second = answer.out.splitlines()
    assert result == "42"
    assert "was built already" in hit
    assert (first, second) == ("code 0", "code 3")
    assert re.search(r"cannot (write|create).*/mounted/.*: Read-only file system", answer.err)
    assert "hint: set FICTL_WORKSPACE_BASE to a folder that you can write" in answer.err


def test_an_empty_read_only_cache_is_refused(project, mounted):
    answer = mounted('mount -t tmpfs -o ro tmpfs "$CACHE" || exit 99\nfictl build twice')
    assert answer.code == 3
    assert "Read-only file system" in answer.err
    assert "hint: set FICTL_WORKSPACE_BASE to a folder that you can write" in answer.err


def test_a_broken_build_in_a_read_only_cache_is_not_said_to_be_moved(project, mounted):
    answer = mounted(
        'mount -t tmpfs tmpfs "$CACHE" && fictl build twice >/dev/null || exit 99\n'
        'for so in $(find "$CACHE" -name module.so); do echo x >> "$so"; done\n'
        'mount -o remount,ro "$CACHE"\nfictl build twice'
    )
    assert answer.code == 3
    assert "corrupt build" in answer.err
    assert "moved to" not in answer.err


@pytest.mark.parametrize(("mode", "who"), [(0o777, "others"), (0o770, "its group")])
def test_a_cache_that_others_can_write_is_refused(project, fictl_, mode, who):
    assert fictl_("build", "twice").code == 0
    top = project.folder.parents[1]
    top.chmod(mode)
    answer = fictl_("build", "twice")
    assert answer.code == 3
    assert f"{top} can be written by {who}; a loaded module is code" in answer.err
    assert f"chmod 700 '{top}'" in answer.err
    top.chmod(0o700)
    assert "was built already" in fictl_("build", "twice").out


@pytest.mark.parametrize("place", ["", ".cache", ".cache/fictl", ".cache/fictl/v1/tiny"])
def test_a_file_where_a_folder_of_the_cache_should_be_is_named(project, fictl_, tmp_path, place):
    base = tmp_path / "base"
    path = base / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    (base / ".cache/fictl/v1").chmod(0o700) if place.endswith("tiny") else None
    answer = fictl_("build", "twice", FICTL_WORKSPACE_BASE=str(base))
    assert answer.code == 3
    assert str(base) in answer.err
    assert "FICTL_WORKSPACE_BASE" in answer.err
    path.unlink()
    assert fictl_("build", "twice", FICTL_WORKSPACE_BASE=str(base)).code == 0


def test_without_home_the_user_database_knows_where(project, fictl_, tmp_path):
    folder = str(tmp_path / "xdg")
    without = {"HOME": None, "FICTL_WORKSPACE_BASE": None, "FICTL_CONFIG": None}
    answer = fictl_("build", "twice", XDG_CACHE_HOME=folder, **without)
    assert answer.code == 0
    assert folder in answer.out


def test_a_user_without_any_home_is_told_what_to_set(project, mounted):
    unknown = ("--map-user=54321", "--map-group=54321")
    without = {
        "HOME": None,
        "XDG_CACHE_HOME": None,
        "XDG_CONFIG_HOME": None,
        "FICTL_CONFIG": None,
        "FICTL_WORKSPACE_BASE": None,
    }
    answer = mounted("fictl build twice", *unknown, **without)
    assert answer.code == 3
    assert "HOME" in answer.err
    assert "FICTL_WORKSPACE_BASE" in answer.err
    assert not (project.root / "~").exists()
    with_a_base = mounted("fictl build twice", *unknown, HOME=None, FICTL_CONFIG=None)
    assert with_a_base.code == 0


@pytest.mark.parametrize("name", ["with space", "ünï çødé", "pi|pe", "se;mi", "per%cent", "#x"])
def test_project_cache_and_toolkit_may_lie_in(project, name, call, stand_in_nvcc, tmp_path):
    home = tmp_path / name
    nvcc = stand_in_nvcc("13.0", home / "cuda")
    moved = shutil.copytree(project.root, home / "tiny")
    answer = _in(moved, call, FICTL_NVCC=str(nvcc), FICTL_WORKSPACE_BASE=str(home / "cache"))
    assert answer == "42"


@pytest.mark.parametrize("name", ["dol$lar", "dol$ lar", "quo'te", 'quo"te', "com,ma", "ba`ck"])
def test_what_nvcc_would_garble_is_refused_in_words(project, name, fictl_, tmp_path):
    moved = shutil.copytree(project.root, tmp_path / name / "tiny")
    answer = _in(moved, lambda **_: fictl_("build", "twice"))
    assert answer.code == 3
    sign = next(sign for sign in "$'\",`" if sign in name)
    assert f"elementwise.twice: nvcc cannot take the {sign} in {moved}" in answer.err
    assert "hint: move or rename that folder" in answer.err


@pytest.mark.parametrize("name", ["dol$ lar", "quo'te", "com,ma"])
def test_a_cache_may_lie_there_all_the_same(project, name, call, tmp_path):
    assert call(FICTL_WORKSPACE_BASE=str(tmp_path / name)) == "42"


def _in(folder: Path, run, **changes):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return run(**changes)
