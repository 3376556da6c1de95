"""Links, mounts and other things in a cache: none leads out of it, whatever is listed or removed."""

from __future__ import annotations

import os
import platform
import shutil

import pytest

from fictl.jit.cache import integrity, removal
from fictl.jit.cache.inventory import builds, inventory, modules
from fictl.jit.cache.removal import clear, gc
from fictl.jit.store.staging import staging_folder
from fictl.jit.store.stores import Store

_DEAD = f"{platform.node()}+{2**22 + 1}+ab"
# Below the root: everything that a cache has at a level of its own.
_PLACES = (
    "v1",
    "v1/mine",
    "v1/mine/norm.rms",
    "v1/mine/norm.rms/r",
    "v1/mine/norm.rms/r/b",
    "v1/mine/norm.rms/objects",
    "v1/mine/norm.rms/objects/k.0.o",
    "v1/mine/norm.rms/inspect",
    "v1/mine/norm.rms/inspect/d",
    "v1/mine/norm.rms/failed",
    "v1/mine/norm.rms/ninja",
    "v1/mine/norm.rms/text",
    "v1/mine/norm.rms/staging",
    f"v1/mine/norm.rms/staging/{_DEAD}",
    "v1/mine/norm.rms/history.json",
    "v1/.quarantine",
    "v1/.quarantine/q",
    "v1/.trash",
    "v1/.trash/t",
    "v1/.memo",
    "v1/.memo/compilers.json",
    "v1/.sources",
    "v1/.sources/s",
    "v1/.locks",
    "v1/.locks/l",
    "solutions",
    "solutions/python",
    "solutions/python/one",
    "v0",
)


@pytest.fixture
def outside(tmp_path, fake_build):
    """A folder that looks like every level of a cache; all of it has to stay."""
    top = tmp_path / "outside"
    fake_build(top / "r" / "b", project="mine", module="norm.rms")
    fake_build(top / "mine" / "norm.rms" / "r" / "b", project="mine", module="norm.rms")
    for path in (f"{_DEAD}/x.o", "norm.rms/objects/k.0.o", "k.0.o", "q/x", "t/x", "l", "empty/.x"):
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(b"1234")
    (top / "empty" / ".x").unlink()
    return top


def _tree(top):
    return sorted(str(path) for path in top.rglob("*"))


@pytest.mark.parametrize("place", _PLACES)
@pytest.mark.parametrize("kind", ["folder", "file", "dangling", "loop", "root"])
def test_a_link_is_named_and_left(store, outside, place, kind):
    link = store.root / place
    link.parent.mkdir(parents=True, mode=0o700)
    leads_to = {
        "folder": outside,
        "file": outside / "l",
        "dangling": "nowhere",
        "loop": link.name,
        "root": "/",
    }[kind]
    link.symlink_to(leads_to)
    before = _tree(outside)
    assert [(item.kind, item.path, item.size) for item in inventory(store.root)] == [
        ("link", link, 0)
    ]
    assert all(store.root / "v1" / a / b not in outside.parents for a, b in modules(store.root))
    for done in (gc(store.root, 0, 0.0), clear(store.root), clear(store.root, force=True)):
        assert ([item.path for item in done.links], done.removed) == ([link], ())
        assert (done.freed, done.left) == (0, 0)
    assert integrity.check_store(store, repair=True).checked == 0
    assert builds(store.root) == []
    assert os.path.islink(link)
    assert _tree(outside) == before


@pytest.mark.parametrize("where", ["src", "module.so", "manifest.json"])
def test_a_link_inside_of_what_goes_is_taken_away_itself(store, add, outside, where):
    build, before = add(), _tree(outside)
    (build / where).unlink(missing_ok=True)
    (build / where).symlink_to(outside if where == "src" else outside / "l")
    assert [item.path for item in clear(store.root).removed] == [build]
    assert not build.exists()
    assert _tree(outside) == before


def test_the_root_may_be_a_link(store, add, put):
    put("mine/norm.rms/objects/k.0.o")
    add()
    linked = store.root.with_name("linked")
    linked.symlink_to(store.root)
    assert {item.kind for item in inventory(linked)} == {"build", "object"}
    assert len(clear(linked).removed) == 2
    assert inventory(store.root) == []


@pytest.mark.parametrize("level", [("mine",), ("mine", "norm.rms"), ("mine", "norm.rms", "r-b")])
def test_a_folder_that_becomes_a_link_before_it_is_removed(store, add, outside, level, monkeypatch):
    build, before = add(), removal.inventory
    shutil.copytree(store.root / "v1", outside / "v1")
    tree = _tree(outside)

    def then_swapped(root):
        items = before(root)
        place = store.root.joinpath("v1", *level)
        os.rename(place, store.root / "moved")
        place.symlink_to(outside.joinpath("v1", *level))
        return items

    monkeypatch.setattr(removal, "inventory", then_swapped)
    with pytest.raises(Exception, match="cannot remove"):
        clear(store.root, force=True)
    assert _tree(outside) == tree
    assert build


def test_what_is_mounted_in_the_cache_is_left(store, add, put, outside, monkeypatch):
    build = add()
    project = put("other/norm.rms/objects/k.0.o").parents[2]
    mounted = [str(build / "src"), str(project)]
    for place in mounted:
        os.makedirs(place, exist_ok=True)
    monkeypatch.setattr("fictl.jit.cache.inventory.mounts_in", lambda _: mounted)
    done = clear(store.root)
    assert {(item.kind, item.path) for item in done.links} == {("mount", build), ("mount", project)}
    assert done.removed == ()


@pytest.mark.parametrize(
    "name", ["new\nline", "\udcff\udcfe", "\x1b[31m", "-rf", " ", "*", "a" * 255]
)
def test_any_name_is_removed_and_told(store, put, name):
    put(f"mine/norm.rms/{name}")
    put(f"mine/norm.rms/r/{name}/x")
    (store.root / "v1" / "mine" / name).symlink_to("/")
    done = clear(store.root)
    assert {os.path.basename(item.path) for item in done.removed} == {name}
    assert [item.path.name for item in done.links] == [name]


def test_pipes_and_deep_folders_are_removed_and_not_read(store, add, put):
    build = add()
    for place in (build / "manifest.json", build / "module.so", build / "pipe"):
        place.unlink(missing_ok=True)
        os.mkfifo(place)
    os.mkfifo(put("mine/norm.rms/objects/k.1.o").with_name("k.0.o"))
    os.mkfifo(put(".locks/a").with_name("b"))
    here = os.open(build, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert integrity.check_store(store).broken
    assert clear(store.root).links == ()
    assert inventory(store.root) == []


def test_a_hard_link_leaves_the_other_name(store, put, outside):
    os.link(outside / "l", put("mine/norm.rms/objects/k.1.o").with_name("k.0.o"))
    clear(store.root)
    assert (outside / "l").read_bytes() == b"1234"


def test_a_build_sweeps_no_staging_but_its_own(tmp_path, outside):
    module = tmp_path / "cache" / "v1" / "mine" / "norm.rms"
    module.mkdir(parents=True)
    (module / "staging").symlink_to(outside)
    before = _tree(outside)
    with pytest.raises(Exception, match=r"staging|link"), staging_folder(module):
        raise AssertionError("it was entered")
    assert _tree(outside) == before


def test_a_corrupt_build_behind_a_link_stays_where_it_is(tmp_path, outside):
    store = Store(tmp_path / "cache", writable=True)
    store.ensure_private()
    (store.root / "v1" / "mine").symlink_to(outside / "mine")
    (outside / "mine" / "norm.rms" / "r" / "b" / "module.so").write_bytes(b"bad")
    before = _tree(outside)
    with pytest.raises(Exception, match="is a link"):
        store.find("mine", "norm.rms", "r", lambda _: True)
    assert _tree(outside) == before
