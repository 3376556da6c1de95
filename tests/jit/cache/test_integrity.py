"""Every byte of every store is read; what is broken is named, and removed on request."""

from __future__ import annotations

import hashlib
import os

import pytest

from fictl.jit.cache.integrity import check_store
from fictl.jit.cache.removal import gc
from fictl.jit.store import entry as entry_module
from fictl.jit.store import kept
from fictl.jit.store.entry import MANIFEST, MODULE
from fictl.jit.store.history import BuildHistory
from fictl.jit.store.stores import Store
from fictl.jit.store.use import hold
from fictl.sealed import seal


def _object(put, content):
    put(f"mine/norm.rms/objects/key.{hashlib.sha256(b'1234').hexdigest()[:16]}.o", content)


def test_a_whole_cache_has_nothing_broken(store, add, put):
    add()
    _object(put, b"1234")
    found = check_store(store)
    assert (found.checked, found.broken) == (2, ())


def _flip(path):
    (path / MODULE).write_bytes(b"cOde")


def _truncate(path):
    (path / MODULE).write_bytes(b"co")


def _lose(path):
    (path / MODULE).unlink()


def _garble(path):
    (path / MANIFEST).write_text("{")


def _age(path):
    text = (path / MANIFEST).read_text()
    (path / MANIFEST).write_text(text.replace("fictl.build/1", "fictl.build/0"))


def _forget(path):
    (path / MANIFEST).unlink()


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (_flip, "other bytes than were published"),
        (_truncate, "has 2 bytes, published with 4"),
        (_lose, "No such file"),
        (_garble, "unreadable manifest"),
        (_age, "schema 'fictl.build/0', expected 'fictl.build/1'"),
        (_forget, "unreadable manifest"),
    ],
)
def test_each_kind_of_harm_is_named_and_repaired(store, add, harm, problem):
    path = add()
    harm(path)
    (broken,) = check_store(store).broken
    assert (broken.path, broken.module, broken.removed) == (path, "norm.rms", False)
    assert problem in broken.problem
    (broken,) = check_store(store, repair=True).broken
    assert broken.removed
    assert not path.exists()
    assert check_store(store).broken == ()


def test_a_build_of_a_newer_fictl_is_neither_checked_nor_removed(store, add, put):
    (add() / MANIFEST).write_text('{"schema": "fictl.build/2"}')
    put(".sources/abc")
    before = _all(store)
    found = check_store(store, repair=True)
    assert [one.path.name for one in found.broken] == [
        "abc"
    ]  # Its bytes are not those of its name.
    put(".sources/abc")
    gc(store.root)
    assert _all(store) == before


def _all(store):
    return sorted(store.root.rglob("*"))


def test_a_flipped_byte_of_a_large_file_is_found_whatever_its_mtime(store, add, monkeypatch):
    monkeypatch.setattr(entry_module, "FULL_HASH_BYTES", 3)
    path = add()
    stat = (path / MODULE).stat()
    _flip(path)
    os.utime(path / MODULE, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert len(check_store(store).broken) == 1


def test_a_build_that_lies_where_another_should_is_broken(store, add):
    path = add()
    path.rename(path.with_name("elsewhere"))
    (broken,) = check_store(store).broken
    assert "its manifest is that of r-b/b" in broken.problem


def test_an_object_of_other_bytes_is_broken(store, put):
    _object(put, b"4321")
    (broken,) = check_store(store, repair=True).broken
    assert broken.problem == "other bytes than its name says"
    assert broken.removed


def test_what_is_loaded_is_reported_and_stays(store, add):
    path = add()
    hold(path)
    _flip(path)
    (broken,) = check_store(store, repair=True).broken
    assert not broken.removed
    assert path.exists()


def test_a_read_only_store_is_never_repaired(store, add):
    path = add()
    _flip(path)
    (broken,) = check_store(Store(store.root), repair=True).broken
    assert not broken.removed
    assert path.exists()


def _sealed(put, store):
    """One record of each kind that has a hash, by what it is."""
    module = store.root / "v1" / "mine" / "norm.rms"
    text = seal({"digits": [1, 2.5], "name": "3"}).encode()
    inspected = put("mine/norm.rms/inspect/d/unit.cubin", b"cubin 1").parent
    kept.write(inspected, {"kernels": [{"registers": 32}]})
    source = hashlib.sha256(b"1234").hexdigest()
    _object(put, b"1234")
    return {
        "history": put("mine/norm.rms/history.json", text),
        "failure": put("mine/norm.rms/failed/failure.json", text),
        "probes": put(".memo/compilers.json", text),
        "tactics": put("../tune/gpu.json", text),
        "undo": put("../scaffold/p.json", text),
        "inspected": inspected / kept.RECORD,
        "cubin": inspected / "unit.cubin",
        "source": put(f".sources/{source}"),
        "object": next((module / "objects").iterdir()),
    }


_RECORDS = (
    "history",
    "failure",
    "probes",
    "tactics",
    "undo",
    "inspected",
    "cubin",
    "source",
    "object",
)


@pytest.mark.parametrize("which", _RECORDS)
def test_a_changed_digit_of_any_record_is_named_and_repaired(store, put, which):
    path = _sealed(put, store)[which]
    assert check_store(store).broken == ()
    data = path.read_bytes()
    at = next(at for at, byte in enumerate(data) if chr(byte).isdigit())
    path.write_bytes(bytes([*data[:at], data[at] ^ 1, *data[at + 1 :]]))
    (broken,) = check_store(store).broken
    assert path.resolve().is_relative_to(broken.path.resolve())
    assert check_store(store, repair=True).broken[0].removed
    assert check_store(store).broken == ()


def test_every_digit_of_a_manifest_counts(store, add):
    manifest = add() / MANIFEST
    whole = manifest.read_bytes()
    for at, byte in enumerate(whole):
        if chr(byte).isdigit():
            manifest.write_bytes(bytes([*whole[:at], byte ^ 1, *whole[at + 1 :]]))
            assert check_store(store).broken, whole[at - 20 : at + 1]


def test_what_a_killed_or_older_one_left_without_a_hash_is_no_history(store, put):
    put("mine/norm.rms/history.json", b'{"seconds": {"a.o": 1e9}, "peak_kib": 99}')
    assert BuildHistory.read(store.root / "v1" / "mine" / "norm.rms") == BuildHistory()
