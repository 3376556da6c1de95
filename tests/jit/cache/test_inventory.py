"""Everything in a cache is found, sized, dated and known to be in use or not."""

from __future__ import annotations

import os
import platform

import pytest

from fictl.jit.cache.inventory import builds, inventory
from fictl.jit.store.entry import MANIFEST
from fictl.jit.store.lock import build_lock
from fictl.jit.store.use import hold


def _by_kind(store):
    return {item.kind: item for item in inventory(store.root)}


def test_a_cache_that_is_not_there_is_empty(store):
    assert inventory(store.root) == []


def test_a_build_has_its_op_size_and_last_use(store, add):
    path = add(content=b"x" * 100, used=1e9)
    (item,) = inventory(store.root)
    assert (item.kind, item.project, item.module, item.path) == ("build", "mine", "norm.rms", path)
    assert item.size == 100 + (path / MANIFEST).stat().st_size
    assert (item.used, item.in_use) == (1e9, False)
    assert item.entry.manifest.build == "b"


def test_a_build_without_a_readable_manifest_is_one_all_the_same(store, add):
    (add() / MANIFEST).write_text("{")
    assert _by_kind(store)["build"].entry is None


def test_a_build_of_a_newer_fictl_is_told_from_a_broken_one(store, add):
    (add() / MANIFEST).write_text('{"schema": "fictl.build/2"}')
    item = _by_kind(store)["build"]
    assert (item.entry, item.newer) == (None, True)


def test_a_loaded_build_is_in_use(store, add):
    hold(add())
    assert _by_kind(store)["build"].in_use is True


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("mine/norm.rms/objects/k.h.o", "object"),
        ("mine/norm.rms/failed/build.log", "failed"),
        ("mine/norm.rms/ninja/build.ninja", "record"),
        ("mine/norm.rms/inspect/0123/kernels.json", "record"),
        ("mine/norm.rms/history.json", "record"),
        ("mine/norm.rms/latest.log", "record"),
        (".quarantine/x/module.so", "quarantine"),
        (".trash/x/module.so", "trash"),
        (".sources/abc", "source"),
        (".memo/compilers.json", "memo"),
        (".locks/mine.norm.rms.r", "lock"),
        ("../solutions/python/fictl_python_x_0123/main.py", "solution"),
        ("../solutions/build_locks/0123.lock", "lock"),
        ("../v0/something", "version"),
    ],
)
def test_what_builds_leave_behind_is_found_by_kind(store, put, path, kind):
    put(path)
    (item,) = inventory(store.root)
    assert (item.kind, item.size, item.in_use) == (kind, 4, False)


def test_what_fictl_did_not_make_is_not_listed(store, put):
    put("../README")
    put("../version2/x")
    assert inventory(store.root) == []


def test_the_staging_folder_of_a_running_build_is_in_use_with_the_objects_beside_it(store, put):
    put(f"mine/norm.rms/staging/{platform.node()}+{os.getpid()}+ab/launcher.o")
    put("mine/norm.rms/objects/k.h.o")
    items = _by_kind(store)
    assert items["staging"].in_use
    assert items["object"].in_use


def test_the_staging_folder_of_a_dead_build_is_not(store, put):
    put(f"mine/norm.rms/staging/{platform.node()}+{2**22 + 1}+ab/launcher.o")
    assert not _by_kind(store)["staging"].in_use


def test_a_held_lock_is_in_use(store, put):
    path = put(".locks/x")
    with build_lock(path, 1, lambda: False, lambda text: None):
        assert _by_kind(store)["lock"].in_use
    assert not _by_kind(store)["lock"].in_use


def test_builds_are_told_apart_from_all_else(store, add, put):
    put("mine/norm.rms/objects/k.h.o")
    path = add()
    assert [item.path for item in builds(store.root)] == [path]
