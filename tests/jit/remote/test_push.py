"""Sending of builds: what goes when, and what a second sender adds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import SetupError, UsageError
from fictl.jit import JitSpec
from fictl.jit.build import ensure
from fictl.jit.remote.catalog import candidates, names_in
from fictl.jit.remote.document import document_of
from fictl.jit.remote.folder import FolderBucket
from fictl.jit.remote.mark import MARK, require_ours
from fictl.jit.remote.push import Sent, own_keys, push
from fictl.jit.remote.url import open_bucket
from fictl.jit.remote.vouched import signed
from fictl.jit.store.entry import Entry
from fictl.trust.secret_key import SecretKey

Send = Callable[[Entry, str], Sent]


@pytest.fixture
def entry(answer: Callable[..., JitSpec]) -> Entry:
    return ensure(answer()).entry


def names(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}


def test_the_document_comes_last(
    entry: Entry, place: Path, url: str, key: SecretKey, send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    for verb in ("write", "send"):
        real = getattr(FolderBucket, verb)

        def noted(self: FolderBucket, name: str, data: object, real: Callable = real) -> None:
            written.append(name)
            real(self, name, data)

        monkeypatch.setattr(FolderBucket, verb, noted)
    send(entry, url)
    kinds = [name.rpartition(".")[2] if "blobs" not in name else "blob" for name in written]
    assert kinds == ["json", "blob", "minisig", "json", "json"]
    assert (written[0], written[-1].rpartition("/")[2]) == (MARK, "index.json")


def test_a_second_push_adds_nothing(entry: Entry, place: Path, url: str, key, send: Send) -> None:
    first = send(entry, url)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
    second = send(entry, url)
    assert (first.already, first.blobs, second.already, second.blobs) == (False, 1, True, 0)
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()} == before


def test_another_commit_of_the_same_sources_adds_nothing(
    entry: Entry, place: Path, url: str, key: SecretKey, send: Send
) -> None:
    send(entry, url)
    before = names(place)
    document = document_of(entry.manifest, {"commit": "1" * 40, "dirty": True}, "another")
    sent = push(open_bucket(url), signed(document, key), entry.path, own_keys(key))
    assert sent.already
    assert names(place) == before


def test_a_second_signer_adds_a_signature(
    entry: Entry, place: Path, url: str, key: SecretKey, send: Send
) -> None:
    send(entry, url)
    before = names(place)
    other = SecretKey.generate()
    document = document_of(entry.manifest, {}, "a test")
    assert not push(open_bucket(url), signed(document, other), entry.path, own_keys(other)).already
    (added,) = names(place) - before
    assert added.endswith(f".{other.id}.minisig")
    (candidate,) = candidates(document.folder, names_in(open_bucket(url), document.folder))
    assert set(candidate.keys) == {key.id, other.id}


def test_a_forged_signature_does_not_keep_the_builder_from_sending(
    entry: Entry, place: Path, url: str, key: SecretKey, send: Send
) -> None:
    send(entry, url)
    (signature,) = place.rglob("*.minisig")
    good = signature.read_text()
    signature.write_text("junk")
    assert not send(entry, url).already
    assert signature.read_text() == good


def test_a_blob_of_another_size_is_sent_again(
    entry: Entry, place: Path, url: str, key: SecretKey, send: Send
) -> None:
    send(entry, url)
    (blob,) = [path for path in (place / "blobs").rglob("*") if path.is_file()]
    good = blob.read_bytes()
    for harm in (lambda: blob.write_bytes(b"cut"), blob.unlink):
        harm()
        assert send(entry, url).blobs == 1
        assert blob.read_bytes() == good


def test_without_a_key_only_a_folder_of_one_s_own_is_written(
    entry: Entry, place: Path, url: str, send: Send, tmp_path: Path
) -> None:
    with pytest.raises(SetupError, match="have to be signed"):
        send(entry, url)
    assert names(place) == set()
    own = tmp_path / "own"
    own.mkdir(mode=0o755)
    assert not send(entry, f"file://{own}").already


def test_the_index_lists_all_documents_and_signatures(
    entry: Entry, place: Path, url: str, key: SecretKey, send: Send
) -> None:
    send(entry, url)
    (index,) = place.rglob("index.json")
    listed = set(json.loads(index.read_text())["names"])
    assert listed == {path.name for path in index.parent.iterdir()} - {"index.json"}


def test_new_files_take_the_permissions_of_the_folder(
    entry: Entry, place: Path, url: str, key: SecretKey, send: Send
) -> None:
    place.chmod(0o2770)
    send(entry, url)
    for path in place.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o770 if path.is_dir() else 0o660), path


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:-1] + b"X"])
def test_a_damaged_file_in_a_folder_is_sent_again(
    entry: Entry,
    place: Path,
    url: str,
    key: SecretKey,
    send: Send,
    damage: Callable[[bytes], bytes],
) -> None:
    send(entry, url)
    (blob,) = (path for path in (place / "blobs").rglob("*") if path.is_file())
    whole = blob.read_bytes()
    blob.write_bytes(damage(whole))
    assert send(entry, url).blobs == 1
    assert blob.read_bytes() == whole
    assert send(entry, url).blobs == 0


def test_what_is_not_ours_is_not_written_to(tmp_path: Path, key: SecretKey) -> None:
    (tmp_path / "photo.jpg").write_text("")
    bucket = open_bucket(f"file://{tmp_path}")
    with pytest.raises(UsageError, match="did not put there"):
        require_ours(bucket)
    (tmp_path / MARK).write_text('{"schema": "fictl.remote/2"}')
    with pytest.raises(SetupError, match="update fictl"):
        require_ours(bucket)
    (tmp_path / MARK).write_bytes(bytes((1 << 16) + 1))
    with pytest.raises(SetupError, match="is 'unreadable'"):
        require_ours(bucket)
    with pytest.raises(UsageError, match="read only"):
        require_ours(open_bucket("https://example.com/x"))
