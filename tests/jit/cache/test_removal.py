"""What clear and gc take, what they leave, and what they say of it."""

from __future__ import annotations

import os
import platform
import time

import pytest

from fictl.errors import SetupError
from fictl.jit.cache import removal
from fictl.jit.cache.removal import clear, gc
from fictl.jit.store.use import hold

DAY = 86400.0


def _left(store):
    """Files, by path below the layout folder."""
    top = store.root / "v1"
    return sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file())


def test_clear_empties_everything_older_versions_too(store, add, put):
    add()
    for path in ("mine/norm.rms/objects/k.o", ".memo/x", ".sources/a", ".locks/l", "../v0/old"):
        put(path)
    before = sum(path.stat().st_size for path in store.root.rglob("*") if path.is_file())
    done = clear(store.root)
    assert (done.freed, done.left, done.kept) == (before, 0, ())
    assert list(store.root.iterdir()) == [] or _left(store) == []
    assert not (store.root / "v0").exists()


def test_clear_of_an_empty_cache_frees_nothing(store):
    assert clear(store.root).freed == 0


def test_clear_keeps_what_is_loaded(store, add):
    loaded, other = add(name="loaded"), add(name="other")
    hold(loaded)
    done = clear(store.root)
    assert [item.path for item in done.kept] == [loaded]
    assert [item.path for item in done.removed] == [other]
    assert loaded.exists()
    assert not other.exists()


def test_clear_by_force_takes_what_is_loaded_too(store, add):
    loaded = add()
    hold(loaded)
    done = clear(store.root, force=True)
    assert ([item.path for item in done.removed], done.kept) == ([loaded], ())
    assert not loaded.exists()


def test_a_build_loaded_since_it_was_looked_at_stays(store, add, monkeypatch):
    path = add()
    before = removal.inventory

    def then_loaded(root):
        items = before(root)
        hold(path)
        return items

    monkeypatch.setattr(removal, "inventory", then_loaded)
    done = clear(store.root)
    assert ([item.path for item in done.kept], done.freed) == ([path], 0)
    assert path.exists()


def test_a_dry_run_says_the_same_and_removes_nothing(store, add, put):
    put("mine/norm.rms/objects/k.o")
    add()
    before = _left(store)
    assert clear(store.root, dry_run=True).freed > 0
    assert gc(store.root, max_size=0, dry_run=True).freed > 0
    assert _left(store) == before


def test_clear_of_one_module_leaves_the_others_and_the_sources_they_need(store, add, put):
    add("norm.rms", "one", inputs={"x": "shared", "y": "only-one"})
    kept = add("rope.apply", "two", inputs={"x": "shared"})
    for path in ("mine/norm.rms/objects/k.o", ".sources/shared", ".sources/only-one"):
        put(path)
    clear(store.root, lambda item: item.module == "norm.rms")
    assert kept.exists()
    assert {name for name in _left(store) if "rope" not in name} == {".sources/shared"}
    assert not (store.root / "v1" / "mine" / "norm.rms").exists()


def test_gc_takes_garbage_without_being_told_more(store, add, put):
    add()
    put(f"mine/norm.rms/staging/{platform.node()}+{2**22 + 1}+ab/x.o")
    put(f"mine/norm.rms/staging/{platform.node()}+{os.getpid()}+ab/x.o")
    put(".quarantine/x/module.so")
    put(".trash/x/module.so")
    put(".sources/unreferenced")
    done = gc(store.root)
    kinds = sorted(item.kind for item in done.removed)
    assert kinds == ["quarantine", "source", "staging", "trash"]
    assert [item.kind for item in done.kept] == ["staging"]


def test_gc_takes_what_was_last_used_before(store, add, put):
    now = time.time()
    old = add(name="old", used=now - 3 * DAY)
    new = add(name="new", used=now - 1 * DAY)
    put("mine/norm.rms/objects/old.o", used=now - 3 * DAY)
    put("mine/norm.rms/objects/new.o", used=now)
    put(".memo/compilers.json", used=now - 9 * DAY)
    done = gc(store.root, older_than=2 * DAY)
    assert sorted(item.path.name for item in done.removed) == ["old", "old.o"]
    assert new.exists()
    assert not old.exists()


def test_gc_takes_the_least_recently_used_until_the_rest_fits(store, add):
    paths = [add(name=f"b{i}", content=b"x" * 10_000, used=1e9 + i) for i in (3, 1, 2)]
    done = gc(store.root, max_size=25_000)
    assert [item.path.name for item in done.removed] == ["b1"]
    assert done.left <= 25_000
    assert [path.exists() for path in paths] == [True, False, True]


def test_gc_never_takes_what_is_in_use(store, add):
    loaded = add(used=1)
    hold(loaded)
    done = gc(store.root, max_size=0, older_than=1)
    assert ([item.path for item in done.kept], done.removed) == ([loaded], ())


def test_a_clock_that_was_set_back_makes_nothing_old(store, add):
    add(used=time.time() + 1000 * DAY)
    assert gc(store.root, older_than=1).removed == ()


def test_what_cannot_be_removed_is_said(store, add, monkeypatch):
    add()

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("fictl.rooted.remove", refuse)
    with pytest.raises(SetupError, match=r"cannot remove .*: Permission denied"):
        clear(store.root)
