from __future__ import annotations

import base64
import os
import time
from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.farm.blobs import BlobStore, WrongBlob, blob_of, frames
from fictl.farm.line import FRAME_BYTES, Blob, Frame


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    (tmp_path / "store").mkdir()
    return BlobStore(tmp_path / "store")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(2 * FRAME_BYTES + 7))
    return path


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_a_file_travels_in_frames(store: BlobStore, file: Path) -> None:
    blob = blob_of(file)
    parts = [*frames(blob, file)]
    assert len(parts) == 3
    assert not store.has(blob)
    path = store.receive(blob, iter(parts).__next__)
    assert path.read_bytes() == file.read_bytes()
    assert store.has(blob)


def test_an_empty_file_travels_too(store: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    blob = blob_of(tmp_path / "empty")
    store.receive(blob, frames(blob, tmp_path / "empty").__next__)
    assert store.has(blob)


@pytest.mark.parametrize(
    "data",
    [b"other", b"right and more", b"", "not base64!"],
    ids=["other bytes", "more", "nothing", "no base64"],
)
def test_other_bytes_than_were_named_are_refused(
    store: BlobStore, tmp_path: Path, data: bytes | str
) -> None:
    (tmp_path / "right").write_bytes(b"right")
    blob = blob_of(tmp_path / "right")
    frame = Frame(blob.sha256, data if isinstance(data, str) else encoded(data))
    with pytest.raises(WrongBlob):
        store.receive(blob, lambda: frame)
    assert not store.has(blob)
    assert [*(tmp_path / "store").iterdir()] == []


def test_a_part_of_another_file_is_refused(store: BlobStore, file: Path) -> None:
    with pytest.raises(WrongBlob, match="came instead of"):
        store.receive(blob_of(file), lambda: Frame("0" * 64, encoded(b"x")))


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "A" * 64, "0" * 63 + "/"])
def test_a_name_that_is_no_hash_leads_nowhere(store: BlobStore, name: str) -> None:
    with pytest.raises(WrongBlob, match="is not a hash"):
        store.path(Blob(name, 1))


def test_a_file_that_was_changed_is_not_used(tmp_path: Path, file: Path, store: BlobStore) -> None:
    blob = blob_of(file)
    store.receive(blob, frames(blob, file).__next__)
    store.path(blob).write_bytes(b"changed")
    assert not BlobStore(tmp_path / "store").has(blob)


def test_a_file_that_shrinks_while_it_is_sent_is_an_error(file: Path) -> None:
    blob = blob_of(file)
    file.write_bytes(b"short")
    with pytest.raises(FictlError, match="became smaller"):
        [*frames(blob, file)]


def test_what_nobody_used_for_days_goes(tmp_path: Path, store: BlobStore) -> None:
    old, new, other = (tmp_path / "store" / name for name in ("a" * 64, "b" * 64, "runs"))
    for path in (old, new, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (time.time() - 8 * 86400,) * 2)
    store.sweep()
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


def test_a_full_disk_leaves_no_part(
    store: BlobStore, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fictl.farm.blobs.os.replace", full)
    blob = blob_of(file)
    with pytest.raises(OSError, match="No space"):
        store.receive(blob, frames(blob, file).__next__)
    assert [*(tmp_path / "store").iterdir()] == []
