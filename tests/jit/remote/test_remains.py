"""Looking after a remote: what is listed, swept and audited."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.jit import JitSpec
from fictl.jit.build import ensure
from fictl.jit.remote.audit import audit
from fictl.jit.remote.bucket import Bucket, RemoteFailed
from fictl.jit.remote.contents import contents_of
from fictl.jit.remote.document import document_of
from fictl.jit.remote.folder import FolderBucket
from fictl.jit.remote.push import own_keys, push
from fictl.jit.remote.sweep import sweep
from fictl.jit.remote.url import open_bucket
from fictl.jit.remote.vouched import signed
from fictl.jit.store.entry import FileStamp
from fictl.trust.keys_file import trusted_keys
from fictl.trust.secret_key import SecretKey

DAY = 86400.0


@pytest.fixture
def bucket(answer: Callable[..., JitSpec], url: str, key: SecretKey, send) -> Bucket:
    """A remote with two builds."""
    for value in (1, 2):
        send(ensure(answer(value)).entry, url)
    return open_bucket(url)


def age(path: Path, days: float) -> None:
    os.utime(path, (time.time() - days * DAY,) * 2)


def files(place: Path, folder: str) -> list[Path]:
    return sorted(path for path in (place / folder).rglob("*") if path.is_file())


def test_all_is_listed_by_its_kind(bucket: Bucket, place: Path, key: SecretKey) -> None:
    (place / "builds" / "readme.txt").write_text("")
    contents = contents_of(bucket)
    assert {it.module for it in contents.documents} == {"answer"}
    assert all(it.keys == (key.id,) for it in contents.documents)
    counts = (contents.documents, contents.signatures, contents.indexes, contents.blobs)
    assert [len(kind) for kind in counts] == [2, 2, 2, 2]


def test_a_web_server_cannot_be_listed() -> None:
    with pytest.raises(UsageError, match="cannot list"):
        contents_of(open_bucket("https://example.com/x"))


def test_nothing_that_is_used_is_swept(bucket: Bucket, place: Path) -> None:
    for path in place.rglob("*"):
        age(path, 365)
    assert sweep(bucket).removed == ()
    assert audit(bucket, trusted_keys()).broken == ()


def test_old_builds_go_and_their_blobs_after_the_grace(bucket: Bucket, place: Path) -> None:
    old = next(path for path in files(place, "builds") if path.name != "index.json")
    for path in old.parent.iterdir():
        age(path, 40)
    before = files(place, "")
    planned = sweep(bucket, 30 * DAY, dry_run=True)
    assert files(place, "") == before
    swept = sweep(bucket, 30 * DAY)
    assert planned == swept
    assert (len(swept.documents), len(swept.signatures), len(swept.blobs)) == (1, 1, 0)
    assert len(contents_of(bucket).documents) == len(contents_of(bucket).indexes) == 1
    for path in files(place, "blobs"):
        age(path, 8)
    assert len(sweep(bucket).blobs) == 1
    assert audit(bucket, trusted_keys()).broken == ()


def test_remains_of_a_killed_writer_stay_for_a_week(bucket: Bucket, place: Path) -> None:
    folder = files(place, "builds")[0].parent
    blob = place / "blobs/sha256/00" / ("00" * 32)
    lonely = folder / f"{'ab' * 12}-{'00' * 32}.json.{'0' * 16}.minisig"
    blob.parent.mkdir(exist_ok=True)
    for path in (blob, lonely):
        path.write_text("")
        age(path, 6)
    assert sweep(bucket).removed == ()
    for path in (blob, lonely):
        age(path, 8)
    assert {entry.name for entry in sweep(bucket).removed} == {
        str(path.relative_to(place)) for path in (blob, lonely)
    }


def test_what_a_killed_writer_had_begun_goes_after_a_week(bucket: Bucket, place: Path) -> None:
    (child := os.fork()) or _write_and_be_killed(bucket)
    os.waitpid(child, 0)
    begun = [path for path in place.rglob(".*") if path.is_file()]
    assert [path.stat().st_size for path in begun] == [1000]
    others = place / ".nfs0123", place / "builds" / ".notes.txt", place / ".x" / ".y.01234567"
    others[2].parent.mkdir()
    for path in (*begun, *others):
        path.write_bytes(bytes(1000))
        age(path, 6)
    assert sweep(bucket).removed == ()
    for path in (*begun, *others):
        age(path, 8)
    planned = sweep(bucket, dry_run=True)
    assert (len(planned.removed), planned.freed, begun[0].exists()) == (1, 1000, True)
    assert sweep(bucket) == planned
    assert [path.exists() for path in (*begun, *others)] == [False, True, True, True]
    assert audit(bucket, trusted_keys()).broken == ()


def _write_and_be_killed(bucket: Bucket) -> None:
    assert isinstance(bucket, FolderBucket)
    with bucket._created(f"blobs/sha256/00/{'00' * 32}") as file:
        file.write(bytes(1000))
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def test_blobs_of_snapshots_stay(bucket: Bucket, place: Path) -> None:
    snapshot = place / "snapshots" / "one.json"
    snapshot.parent.mkdir()
    blobs = files(place, "blobs")
    snapshot.write_text('{"files": ["' + '", "'.join(path.name for path in blobs) + '"]}')
    for path in place.rglob("*"):
        age(path, 40)
    swept = sweep(bucket, 30 * DAY)
    assert (len(swept.documents), len(swept.blobs)) == (2, 0)


def test_a_document_that_cannot_be_read_stops_the_sweep(bucket: Bucket, place: Path) -> None:
    """To take it for one without blobs would lose them."""
    names = [path.name for path in files(place, "builds")]
    document = next(name for name in names if name.endswith(".json") and name != "index.json")
    real = FolderBucket.read

    def failing(self: FolderBucket, name: str, largest: int) -> bytes:
        if name.endswith(document):
            raise RemoteFailed(self.url, "the connection broke")
        return real(self, name, largest)

    for path in place.rglob("*"):
        age(path, 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FolderBucket, "read", failing)
        with pytest.raises(RemoteFailed):
            sweep(bucket)
    assert len(files(place, "blobs")) == 2


def test_what_is_not_ours_is_not_swept(place: Path) -> None:
    (place / "photo.jpg").write_text("")
    with pytest.raises(UsageError, match="did not put there"):
        sweep(open_bucket(f"file://{place}"))


def test_every_kind_of_damage_is_named(bucket: Bucket, place: Path, key: SecretKey) -> None:
    clean = audit(bucket, trusted_keys())
    assert (len(clean.documents), clean.blobs, clean.broken) == (2, 2, ())
    assert all(one.trusted_by == ("ci",) for one in clean.documents)
    first, second = files(place, "blobs")
    first.unlink()
    second.write_bytes(second.read_bytes()[:-1] + b"x")
    problems = {one.problem for one in audit(bucket, trusted_keys()).broken}
    assert any("missing" in problem for problem in problems)
    assert any("other bytes" in problem for problem in problems)
    (place / "builds").rename(place / "aside")
    signature = next(path for path in files(place, "aside") if path.suffix == ".minisig")
    signature.write_text("junk")
    (place / "aside").rename(place / "builds")
    problems = {one.problem for one in audit(bucket, trusted_keys()).broken}
    assert any("signature" in problem for problem in problems)


def test_a_stranger_s_build_is_not_damaged_but_named(bucket: Bucket, place: Path) -> None:
    result = audit(bucket, ())
    assert result.broken == ()
    assert {v.kind for one in result.documents for v in one.verdicts} == {"unknown key"}


def test_builds_of_one_key_with_other_bytes_are_named(
    bucket: Bucket, answer: Callable[..., JitSpec], key: SecretKey, tmp_path: Path
) -> None:
    entry = ensure(answer(1)).entry
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "module.so").write_bytes(b"not the same")
    manifest = type(entry.manifest)(
        **{**entry.manifest.__dict__, "files": {"module.so": FileStamp.of(folder / "module.so")}}
    )
    document = document_of(manifest, {}, "another machine")
    push(bucket, signed(document, key), folder, own_keys(key))
    result = audit(bucket, trusted_keys())
    assert result.broken == ()
    (group,) = result.differing
    assert len(group) == 2
