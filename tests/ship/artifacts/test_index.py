"""The index of a repository: a hint that heals, and that nobody has to believe."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.jit.remote.bucket import BadAnswer
from fictl.jit.remote.folder import FolderBucket
from fictl.jit.remote.url import open_bucket
from fictl.ship.artifacts.index import (
    INDEX,
    Indexed,
    read_index,
    require_index,
    write_index,
)
from fictl.ship.artifacts.signed import Signed, write_signed
from fictl.ship.artifacts.snapshot import Snapshot, make_snapshot

from .conftest import NOON


@pytest.fixture
def snapshot(build) -> Snapshot:
    return make_snapshot("2026.11", [build()[0]], NOON)


@pytest.fixture
def bucket(repository: Path) -> FolderBucket:
    return open_bucket(repository.as_uri())  # type: ignore[return-value]


def test_it_names_snapshots_the_newest_first(bucket, snapshot, build) -> None:
    later = make_snapshot("2026.12", [build()[0]], NOON + 60)
    for one in (snapshot, later):
        write_signed(bucket, Signed(one))
    write_index(bucket, [Indexed.describe(snapshot), Indexed.describe(later)])
    assert [entry.name for entry in read_index(bucket)] == ["2026.12", "2026.11"]
    assert read_index(bucket)[1] == Indexed.describe(snapshot)


def test_no_index_is_no_snapshot(bucket) -> None:
    assert read_index(bucket) == ()


def test_what_another_writer_lost_comes_back_and_what_is_gone_goes(bucket, snapshot, build) -> None:
    lost = make_snapshot("lost", [build()[0]], NOON)
    for one in (snapshot, lost):
        write_signed(bucket, Signed(one))
    gone = replace(Indexed.describe(snapshot), name="gone")
    bucket.write(
        INDEX, json.dumps({"schema": "fictl.snapshots/1", "snapshots": [gone.to_dict()]}).encode()
    )
    write_index(bucket, [Indexed.describe(snapshot)])
    assert {entry.name for entry in read_index(bucket)} == {"lost", "2026.11"}


def test_a_file_that_is_no_snapshot_is_not_described(bucket, snapshot) -> None:
    bucket.write(f"snapshots/evil-{'0' * 64}.json", snapshot.data)
    bucket.write(f"snapshots/bad-{'1' * 64}.json", b"{")
    write_index(bucket, [])
    assert read_index(bucket) == ()


def test_an_index_that_needs_no_change_is_not_written(bucket, snapshot, repository: Path) -> None:
    write_signed(bucket, Signed(snapshot))
    write_index(bucket, [Indexed.describe(snapshot)])
    before = (repository / INDEX).stat().st_ino
    write_index(bucket, [Indexed.describe(snapshot)])
    assert (repository / INDEX).stat().st_ino == before


@pytest.mark.parametrize("data", [b"", b"<html>", b"[]", b" " * ((8 << 20) + 1)])
def test_a_damaged_index_is_made_again(bucket, snapshot, data: bytes) -> None:
    write_signed(bucket, Signed(snapshot))
    bucket.write(INDEX, data)
    with pytest.raises(FictlError, match="cannot be listed") as caught:
        require_index(bucket)
    assert "writes the index again" in caught.value.hint
    write_index(bucket, [])
    assert read_index(bucket) == (Indexed.describe(snapshot),)


def test_an_index_of_a_newer_fictl_stays(bucket, snapshot) -> None:
    data = b'{"schema": "fictl.snapshots/2", "snapshots": []}'
    bucket.write(INDEX, data)
    with pytest.raises(FictlError, match="cannot be listed") as caught:
        write_index(bucket, [Indexed.describe(snapshot)])
    assert caught.value.hint == "update fictl"
    assert bucket.read(INDEX, 1000) == data


def _text(**changes: object) -> bytes:
    entry = {
        "name": "x",
        "sha256": "0" * 64,
        "created": "2026-01-01T00:00:00Z",
        "builds": 1,
        "size": 1,
    }
    return json.dumps({"schema": "fictl.snapshots/1", "snapshots": [{**entry, **changes}]}).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"<html>",
        b"[" * 100_000,
        b'{"schema": "fictl.snapshots/2", "snapshots": []}',
        _text(name="../../x"),
        _text(sha256="../x"),
        _text(created="yesterday"),
        _text(builds=-1),
        _text(size="1"),
        _text(size=True),
        _text(name=["x"]),
        b" " * ((8 << 20) + 1),
    ],
)
def test_a_hostile_index_is_refused_in_words(bucket, data: bytes) -> None:
    bucket.write(INDEX, data)
    with pytest.raises(BadAnswer, match=r"snapshots/index\.json"):
        read_index(bucket)


def test_a_link_in_place_of_the_index_is_not_followed(
    bucket, snapshot, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.json").write_bytes(_text())
    (repository / "snapshots").mkdir()
    (repository / INDEX).symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(Exception, match=r"links|Too many|ELOOP|not a regular"):
        read_index(bucket)
