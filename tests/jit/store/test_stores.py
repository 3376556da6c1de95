"""Finding builds, setting broken ones aside, and whom a store belongs to."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from fictl.errors import SetupError
from fictl.jit.store.entry import MANIFEST, MODULE
from fictl.jit.store.stores import STORE_FILE, Store, stores, writable_store
from fictl.version import VERSION

PLACE = ("local", "answer", "recipe")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", writable=True)


def _any(_):
    return True


def _set_aside(store):
    """The contents of the modules in quarantine."""
    return sorted(path.read_bytes() for path in store.root.glob(f"v1/.quarantine/*/{MODULE}"))


def test_an_empty_store_has_nothing(store):
    assert store.find(*PLACE, _any) is None
    assert store.entries("local", "answer") == []
    assert not store.root.exists()


def test_the_newest_build_that_fits_is_found(store, fake_build):
    for name, created in (("old", 1.0), ("new", 3.0), ("middle", 2.0)):
        fake_build(store.recipe_dir(*PLACE) / name, created=created)
    assert store.find(*PLACE, _any).path.name == "new"
    assert store.find(*PLACE, lambda entry: entry.manifest.created < 3).path.name == "middle"


def test_a_corrupt_build_is_set_aside_and_reported_and_the_next_one_found(
    store, fake_build, caplog
):
    broken = fake_build(store.recipe_dir(*PLACE) / "new", created=2.0)
    fake_build(store.recipe_dir(*PLACE) / "old", created=1.0)
    broken.module.write_bytes(b"bad!")
    assert store.find(*PLACE, _any).path.name == "old"
    assert not broken.path.exists()
    assert _set_aside(store) == [b"bad!"]
    assert "corrupt build" in caplog.text
    assert "other bytes than were published" in caplog.text


@pytest.mark.parametrize("text", [None, "{", json.dumps({"schema": "fictl.build/0"})])
def test_a_build_without_a_usable_manifest_is_set_aside(store, fake_build, caplog, text):
    broken = fake_build(store.recipe_dir(*PLACE) / "build")
    (broken.path / MANIFEST).unlink()
    if text is not None:
        (broken.path / MANIFEST).write_text(text)
    assert store.find(*PLACE, _any) is None
    assert not broken.path.exists()
    assert "corrupt build" in caplog.text


def test_a_build_of_a_newer_fictl_is_passed_over_in_silence(
    store, fake_build, caplog, listing, monkeypatch
):
    newer = fake_build(store.recipe_dir(*PLACE) / "newer", created=2.0)
    (newer.path / MANIFEST).write_text(json.dumps({"schema": "fictl.build/2", "files": []}))
    ours = fake_build(store.recipe_dir(*PLACE) / "ours")
    before = listing(newer.path)
    monkeypatch.setenv("FICTL_LOGGING_LEVEL", "debug")
    assert store.find(*PLACE, _any) == ours
    assert store.entries(*PLACE[:2]) == [ours]
    assert listing(newer.path) == before
    assert {record.levelname for record in caplog.records} == {"DEBUG"}
    assert "a newer fictl made it: its schema is fictl.build/2" in caplog.text


def test_a_build_that_broke_twice_is_set_aside_twice(store, fake_build):
    for content in (b"one", b"two"):
        broken = fake_build(store.recipe_dir(*PLACE) / "build")
        broken.module.write_bytes(content)
        assert store.find(*PLACE, _any) is None
    assert _set_aside(store) == [b"one", b"two"]


def test_a_build_that_another_process_has_healed_meanwhile_stays(store, fake_build, caplog):
    path = store.recipe_dir(*PLACE) / "build"
    broken = fake_build(path)
    broken.module.write_bytes(b"bad!")

    def heal(entry):
        shutil.rmtree(path, ignore_errors=True)
        fake_build(path, content=b"good")
        return True

    assert store.find(*PLACE, heal) is None
    assert _set_aside(store) == []
    assert store.find(*PLACE, _any).module.read_bytes() == b"good"
    assert not caplog.text


def test_a_corrupt_build_in_a_read_only_store_stays_and_is_reported_once(
    store, fake_build, caplog, listing
):
    broken = fake_build(store.recipe_dir(*PLACE) / "build")
    broken.module.write_bytes(b"bad!")
    before = listing(store.root)
    read_only = Store(store.root)
    assert read_only.find(*PLACE, _any) is None
    assert read_only.find(*PLACE, _any) is None
    assert listing(store.root) == before
    assert caplog.text.count("is passed over") == 1


def test_entries_are_those_of_all_recipes_and_what_was_published(store, fake_build):
    module_dir = store.module_dir("local", "answer")
    fake_build(module_dir / "r1" / "b1", created=1.0)
    fake_build(module_dir / "r2" / "b2", created=2.0)
    fake_build(module_dir / "staging" / "host+1+ab", build="b3")
    (module_dir / "failed" / "src").mkdir(parents=True)
    assert [entry.path.name for entry in store.entries("local", "answer")] == ["b2", "b1"]
    assert [entry.path.name for entry in store.entries("local", "answer", "r1")] == ["b1"]
    assert store.entries("local", "answer", "r3") == []


def test_the_writable_store_is_made_for_its_user_alone(cache):
    writable_store().ensure_private()
    assert (cache / "v1").stat().st_mode & 0o777 == 0o700
    writable_store().ensure_private()


@pytest.mark.parametrize(("mode", "who"), [(0o777, "others"), (0o702, "others"), (0o770, "group")])
def test_a_cache_that_others_can_write_is_refused(cache, mode, who):
    writable_store().ensure_private()
    (cache / "v1").chmod(mode)
    with pytest.raises(SetupError, match=f"(?s)can be written by .*{who}.*chmod 700") as caught:
        list(stores())
    assert str(cache) in str(caught.value)


def test_a_cache_of_another_user_is_refused(cache, monkeypatch):
    writable_store().ensure_private()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(SetupError, match=r"belongs to user .*, you are user 12345"):
        list(stores())


def test_a_cache_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / "file"))
    with pytest.raises(SetupError, match=r"(?s)cannot create the cache .*FICTL_WORKSPACE_BASE"):
        writable_store().ensure_private()


def _layered(monkeypatch, *roots):
    monkeypatch.setenv("FICTL_STORES", ":".join(map(str, roots)))
    return list(stores())


def test_stores_are_looked_in_after_the_cache_in_order(tmp_path, monkeypatch, cache):
    found = _layered(monkeypatch, tmp_path / "one", tmp_path / "two")
    assert found == [
        Store(cache, writable=True),
        Store(tmp_path / "one"),
        Store(tmp_path / "two"),
    ]
    assert not (tmp_path / "one").exists()


@pytest.mark.parametrize("text", ['{"fictl": "0.0.9"}', f'{{"fictl": "{VERSION}"}}', "", "[]"])
def test_a_store_that_any_version_shipped_is_prebuilt(tmp_path, monkeypatch, caplog, text):
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / STORE_FILE).write_text(text)
    assert _layered(monkeypatch, tmp_path / "store")[1:] == [
        Store(tmp_path / "store", prebuilt=True)
    ]
    assert not caplog.text
