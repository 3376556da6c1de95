"""Every level of the cache is its user's alone, and one that is not is refused when it is read."""

from __future__ import annotations

import os

import pytest

from fictl import private_folder
from fictl.errors import SetupError
from fictl.jit.store.stores import writable_store
from fictl.paths import cache_root

_LEVELS = ("", "v1", "v1/local", "v1/local/answer", "v1/local/answer/r", "v1/local/answer/r/b")


@pytest.fixture
def build(fake_build):
    store = writable_store()
    store.ensure_private("local", "answer")
    return fake_build(store.recipe_dir("local", "answer", "r") / "b").path


@pytest.mark.parametrize("level", _LEVELS)
@pytest.mark.parametrize(("mode", "who"), [(0o777, "others"), (0o702, "others"), (0o720, "group")])
def test_a_level_that_others_can_write_is_refused_with_the_chmod_that_mends_it(
    build, level, mode, who
):
    place = cache_root() / level
    before = place.stat().st_mode & 0o777
    place.chmod(mode)
    with pytest.raises(SetupError, match=f"can be written by .*{who}") as caught:
        writable_store().find("local", "answer", "r", lambda _: True)
    assert f"chmod 700 '{place}'" in caught.value.hint
    place.chmod(before)
    assert writable_store().find("local", "answer", "r", lambda _: True)


@pytest.mark.parametrize("level", _LEVELS)
def test_a_level_of_another_user_is_refused(build, level, monkeypatch):
    place, look = cache_root() / level, os.stat

    def of_another(path, **options):
        info = look(path, **options)
        if os.fspath(path) != os.fspath(place):
            return info
        return os.stat_result((*info[:4], info.st_uid + 1, *info[5:]))

    monkeypatch.setattr(private_folder.os, "stat", of_another)
    with pytest.raises(SetupError, match="belongs to user"):
        writable_store().find("local", "answer", "r", lambda _: True)


@pytest.mark.parametrize("umask", [0, 0o002, 0o022, 0o077])
def test_what_is_made_is_private_whatever_the_umask(umask, monkeypatch):
    before = os.umask(umask)
    try:
        writable_store().ensure_private("mine", "norm.rms")
        private_folder.make_within(cache_root() / "v1" / "mine" / "norm.rms" / "r" / "b")
    finally:
        os.umask(before)
    made = [cache_root(), *(path for path in cache_root().rglob("*"))]
    assert len(made) == 6
    assert {path.stat().st_mode & 0o777 for path in made} == {0o700}


def test_a_folder_of_others_stays_as_open_as_it_is(tmp_path):
    tmp_path.chmod(0o755)
    private_folder.make_within(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o755


def test_a_level_that_is_cleared_away_meanwhile_is_made_again(tmp_path, monkeypatch):
    root, make, cleared = tmp_path / "cache", os.mkdir, []

    def mkdir(place, mode=0o777):
        if place == root / "v1" / "mine" and not cleared:
            cleared.append(place)
            os.rmdir(root / "v1")
        make(place, mode)

    monkeypatch.setattr(private_folder.os, "mkdir", mkdir)
    assert private_folder.make(root, "v1", "mine") == root / "v1" / "mine"
    assert (root / "v1" / "mine").is_dir()
    assert cleared


def test_a_folder_that_cannot_be_made_is_an_error_in_the_end(tmp_path, monkeypatch):
    def mkdir(place, mode=0o777):
        raise FileNotFoundError(2, os.strerror(2), str(place))

    monkeypatch.setattr(private_folder.os, "mkdir", mkdir)
    with pytest.raises(FileNotFoundError):
        private_folder.make(tmp_path / "cache", "v1")
