"""Manifests, and what tells a whole build from a broken one."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict

import pytest

from fictl.arch import Arch
from fictl.jit.store import entry as entry_module
from fictl.jit.store.entry import MANIFEST, MODULE, SCHEMA, Corrupt, Entry, Manifest, Newer
from fictl.sealed import seal, unseal


@pytest.fixture
def build(tmp_path, fake_build):
    return fake_build(tmp_path / "recipe" / "build", archs=("8.0", "9.0a"))


def test_a_manifest_comes_back_as_it_was_written(build):
    assert Manifest.from_json(build.manifest.to_json()) == build.manifest
    assert build.archs == (Arch(8, 0), Arch(9, 0, "a"))


def test_a_parameter_that_json_does_not_know_is_written_as_text(tmp_path, fake_build):
    build = fake_build(tmp_path / "r" / "b", parameters={"where": tmp_path})
    assert build.manifest.parameters == {"where": str(tmp_path)}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "{}", json.dumps({"schema": SCHEMA}), json.dumps({"schema": 3})],
)
def test_a_manifest_that_cannot_be_read_is_corrupt(build, text):
    (build.path / MANIFEST).write_text(text)
    with pytest.raises(Corrupt):
        Entry.read(build.path)


@pytest.mark.parametrize("schema", ["fictl.build/0", "fictl.build/", "fictl.trace/2", "/2", 2])
def test_a_manifest_of_another_schema_says_which(build, schema):
    _change(build, schema=schema)
    with pytest.raises(Corrupt, match=re.escape(f"schema {schema!r}, expected 'fictl.build/1'")):
        Entry.read(build.path)


def test_a_newer_schema_is_not_corrupt_whatever_else_is_in_it(build):
    (build.path / MANIFEST).write_text(json.dumps({"schema": "fictl.build/99", "archs": 7}))
    with pytest.raises(Newer, match=r"fictl\.build/99, this one's fictl\.build/1"):
        Entry.read(build.path)
    assert Entry.whole(build.path) is None


def test_fields_of_newer_versions_are_dropped(build):
    stamp = {**asdict(build.manifest.files[MODULE]), "blake3": "00"}
    _change(build, files={MODULE: stamp}, mood={"good": True})
    assert Entry.read(build.path) == build


def test_fields_that_older_versions_did_not_write_are_empty(build):
    data = unseal((build.path / MANIFEST).read_text())
    for name in ("platform", "origin", "source", "builder"):
        del data[name]
    (build.path / MANIFEST).write_text(seal(data))
    assert Entry.read(build.path) == build
    assert (build.manifest.platform, build.manifest.origin) == ("", {})


@pytest.mark.parametrize(
    "changes",
    [{"created": "now"}, {"created": None}, {"created": True}, {"project": 3}, {"inputs": []}]
    + [{"files": {name: {}}} for name in ("../module.so", "/etc/passwd", "..", "", "src/a.cu")]
    + [{"files": {MODULE: {"size": "4", "mtime_ns": 1, "sha256": ""}}}, {"files": {MODULE: 3}}],
)
def test_a_field_with_a_wrong_value_is_corrupt(build, changes):
    _change(build, **changes)
    with pytest.raises(Corrupt, match="unreadable manifest"):
        Entry.read(build.path)


def _change(build, **changes):
    data = unseal((build.path / MANIFEST).read_text())
    (build.path / MANIFEST).write_text(seal({**data, **changes}))


def test_bytes_that_are_no_text_are_corrupt(build):
    (build.path / MANIFEST).write_bytes(b"\xff\xfe")
    with pytest.raises(Corrupt, match="unreadable manifest"):
        Entry.read(build.path)


def test_a_folder_without_a_manifest_is_corrupt(build):
    (build.path / MANIFEST).unlink()
    with pytest.raises(Corrupt, match="No such file"):
        Entry.read(build.path)


def test_a_whole_build_is_accepted(build):
    build.verify()
    build.verify(everything=True)


def test_a_build_is_whole_or_nothing(build):
    assert Entry.whole(build.path) == build
    build.module.write_bytes(b"cOde")
    assert Entry.whole(build.path) is None
    assert Entry.whole(build.path / "nowhere") is None


def test_a_truncated_file_is_told_by_its_size(build):
    build.module.write_bytes(b"cod")
    with pytest.raises(Corrupt, match=r"module\.so has 3 bytes, published with 4"):
        build.verify()


def test_a_flipped_byte_is_told_by_the_hash(build):
    build.module.write_bytes(b"cOde")
    with pytest.raises(Corrupt, match="other bytes than were published"):
        build.verify()


def test_a_missing_file_is_named(build):
    build.module.unlink()
    with pytest.raises(Corrupt, match=f"{MODULE}: No such file"):
        build.verify()


def test_a_small_file_may_be_touched(build):
    os.utime(build.module, (1, 1))
    build.verify()


def test_a_large_file_is_read_only_where_its_mtime_is_not_as_published(build, monkeypatch):
    monkeypatch.setattr(entry_module, "FULL_HASH_BYTES", 3)
    stat = build.module.stat()
    build.module.write_bytes(b"cOde")
    with pytest.raises(Corrupt, match="other bytes"):
        build.verify()
    os.utime(build.module, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    build.verify()
    with pytest.raises(Corrupt, match="other bytes"):
        build.verify(everything=True)


def test_a_copy_of_a_large_file_need_not_keep_its_mtime(build, monkeypatch):
    monkeypatch.setattr(entry_module, "FULL_HASH_BYTES", 3)
    os.utime(build.module, (1, 1))
    build.verify()
