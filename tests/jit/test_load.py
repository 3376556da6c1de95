"""Loading finished builds."""

from __future__ import annotations

import os
import shutil

import pytest

from fictl.errors import FictlError
from fictl.jit.load import load, load_found
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import STORE_FILE
from fictl.jit.store.use import in_use

pytestmark = pytest.mark.needs_nvcc


def test_a_build_is_loaded_once_in_a_process(answer):
    entry = answer(5).build()
    module = load(entry)
    assert module.answer() == 5
    assert load(entry) is module


def test_loading_stamps_a_build_of_the_cache_as_used(answer):
    entry = answer().build()
    os.utime(entry.path, (1, 1))
    load(entry)
    assert entry.path.stat().st_mtime > 1
    entry.verify()


def test_loading_leaves_a_build_of_a_read_only_store_alone(answer, cache, tmp_path, listing):
    entry = answer().build()
    shutil.copytree(cache, tmp_path / "store")
    (tmp_path / "store" / STORE_FILE).touch()
    before = listing(tmp_path / "store")
    load(Entry.read(tmp_path / "store" / entry.path.relative_to(cache)))
    assert listing(tmp_path / "store") == before


def test_a_loaded_build_is_in_use(answer):
    entry = answer().build()
    assert not in_use(entry.path)
    load(entry)
    assert in_use(entry.path)


def test_a_build_that_is_cleared_while_it_is_loaded_is_built_again(answer):
    spec = answer(6)
    found = []

    def find():
        found.append(spec.build())
        if len(found) == 1:
            shutil.rmtree(found[0].path)
        return found[-1]

    assert load_found(find).answer() == 6
    assert len(found) == 2


def test_a_build_that_always_vanishes_is_an_error(answer):
    entry = answer().build()
    shutil.rmtree(entry.path)
    with pytest.raises(FictlError, match="vanish"):
        load_found(lambda: entry)


def test_what_is_not_found_is_not_loaded():
    assert load_found(lambda: None) is None


def test_a_file_that_the_loader_refuses_is_named_with_its_reason(tmp_path, fake_build):
    entry = fake_build(tmp_path / "r" / "b", content=b"no library", module="norm.rmsnorm")
    with pytest.raises(FictlError, match=r"norm\.rmsnorm: cannot load .*module\.so") as caught:
        load(entry)
    assert caught.value.hint == f"fictl build rmsnorm after removing {entry.path}"
