"""Builds that one machine made and others use, over a folder that others can write."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl import settings
from fictl.errors import SetupError
from fictl.jit import JitSpec, MissingBuild
from fictl.jit.build import ensure
from fictl.jit.prefetch import prefetch
from fictl.jit.remote.folder import FolderBucket
from fictl.jit.remote.push import Sent
from fictl.jit.store.entry import Entry
from fictl.trust import keys_file
from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey
from fictl.trust.signature import sign

pytestmark = pytest.mark.usefixtures("url")
Send = Callable[[Entry, str], Sent]


@pytest.fixture
def sent(
    answer: Callable[..., JitSpec], url: str, key: SecretKey, send: Send, elsewhere, compiled
) -> JitSpec:
    """A module that lies in the remote, signed, and nowhere else."""
    spec = answer()
    send(ensure(spec).entry, url)
    elsewhere()
    assert len(compiled()) == 1
    return spec


def files(place: Path, pattern: str) -> list[Path]:
    return sorted(path for path in place.rglob(pattern) if path.is_file())


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_what_one_machine_built_another_uses(
    sent: JitSpec, compiled, url: str, key: SecretKey
) -> None:
    outcome = ensure(sent)
    assert not outcome.compiled
    assert len(compiled()) == 1
    assert outcome.why == f"fetched from {url}, signed by ci"
    manifest = outcome.entry.manifest
    assert manifest.origin == {"url": url, "key": "ci", "key_id": key.id}
    outcome.entry.verify(everything=True)
    assert sent.build_and_load().answer() == 42
    assert ensure(sent).entry == outcome.entry


def test_where_nothing_may_compile_the_remote_is_asked_too(
    sent: JitSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.DISABLE_JIT.name, "1")
    assert not ensure(sent).compiled


def test_a_missing_build_says_why_each_remote_did_not_help(
    answer, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(settings.DISABLE_JIT.name, "1")
    monkeypatch.setenv(settings.REMOTE.name, f"{url} file://{tmp_path}/not/mounted")
    spec = answer()
    with pytest.raises(MissingBuild) as error:
        ensure(spec)
    assert f"{url} does not have it" in error.value.message
    assert f"file://{tmp_path}/not/mounted cannot be used: No such file" in error.value.message
    assert "fictl build" in error.value.hint
    monkeypatch.setenv(settings.REMOTE_MODE.name, "off")
    with pytest.raises(MissingBuild, match="is not asked: FICTL_REMOTE_MODE=off"):
        ensure(spec)


def document_in(place: Path) -> Path:
    (path,) = [path for path in files(place / "builds", "*.json") if path.name != "index.json"]
    return path


def edit_manifest(place: Path) -> None:
    path = document_in(place)
    path.write_text(path.read_text().replace('"fictl":"', '"fictl":"9.'))


def move_to_another_build(place: Path) -> None:
    """Both, document and signature, as another build of the recipe."""
    for path in files(place / "builds", "*-*.json*"):
        path.rename(path.with_name("ab" + path.name[2:]))


def truncate_blob(place: Path) -> None:
    (blob,) = files(place / "blobs", "*")
    blob.write_bytes(blob.read_bytes()[:-1])


def swap_blob(place: Path) -> None:
    (blob,) = files(place / "blobs", "*")
    data = blob.read_bytes()
    blob.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def grow_blob(place: Path) -> None:
    (blob,) = files(place / "blobs", "*")
    blob.write_bytes(blob.read_bytes() + b"x")


def lose_blob(place: Path) -> None:
    (blob,) = files(place / "blobs", "*")
    blob.unlink()


def link_blob(place: Path) -> None:
    (blob,) = files(place / "blobs", "*")
    blob.rename(place / "aside")
    blob.symlink_to(place / "aside")


def lose_signature(place: Path) -> None:
    (signature,) = files(place, "*.minisig")
    signature.unlink()


def empty_signature(place: Path) -> None:
    (signature,) = files(place, "*.minisig")
    signature.write_text("")


def sign_by_a_stranger(place: Path) -> None:
    stranger = SecretKey.generate()
    (signature,) = files(place, "*.minisig")
    document = signature.with_name(signature.name.split(".json")[0] + ".json")
    comment = f"fictl.build {document.parent.relative_to(place / 'builds')}/{document.name.partition('-')[0]}"
    text = sign(stranger, document.read_bytes(), comment).text()
    signature.unlink()
    document.with_name(f"{document.name}.{stranger.id}.minisig").write_text(text)


def expire_the_key(place: Path) -> None:
    key = keys_file.remove("ci")
    keys_file.add(TrustedKey("ci", key.public, ("*",), keys_file.parse_day("2020-01-01")))


def trust_it_for_others(place: Path) -> None:
    key = keys_file.remove("ci")
    keys_file.add(TrustedKey("ci", key.public, ("their_*",)))


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (edit_manifest, "other bytes than its name says"),
        (move_to_another_build, "is moved"),
        (truncate_blob, "does not have"),
        (swap_blob, "other bytes than its name says"),
        (grow_blob, "does not have"),
        (lose_blob, "is missing"),
        (link_blob, "cannot be used"),
        (lose_signature, "it is not signed"),
        (empty_signature, "cannot be read"),
        (sign_by_a_stranger, "not among the trusted ones"),
        (expire_the_key, "has expired on 2020-01-01"),
        (trust_it_for_others, "is trusted for their_*"),
    ],
)
def test_what_is_not_as_it_was_signed_is_a_miss_in_words(
    sent: JitSpec, place: Path, harm: Callable[[Path], None], reason: str, compiled, caplog
) -> None:
    harm(place)
    outcome = ensure(sent)
    assert outcome.compiled
    assert len(compiled()) == 2
    (warning,) = warnings(caplog)
    assert reason in warning
    assert outcome.entry.manifest.origin == {}
    staged = outcome.entry.path.parents[1] / "staging"
    assert not staged.exists() or not any(staged.iterdir())


def test_the_next_candidate_is_tried(sent: JitSpec, place: Path, key: SecretKey, caplog) -> None:
    """A poisoner can add builds; it cannot hide the good one."""
    document = document_in(place)
    for name in ("00" * 32, "ff" * 32):
        fake = document.with_name(f"{document.name.partition('-')[0]}-{name}.json")
        fake.write_text("{}")
        fake.with_name(f"{fake.name}.{key.id}.minisig").write_text("junk")
    assert not ensure(sent).compiled


def test_a_document_of_a_newer_fictl_is_passed_over_silently(
    sent: JitSpec, place: Path, key: SecretKey, caplog
) -> None:
    document = document_in(place)
    (signature,) = files(place, "*.minisig")
    data = json.loads(document.read_text())
    newer = json.dumps({**data, "schema": "fictl.build/2"}).encode()
    build = document.name.partition("-")[0]
    name = f"{build}-{hashlib.sha256(newer).hexdigest()}.json"
    comment = f"fictl.build {document.parent.relative_to(place / 'builds')}/{build}"
    for path in (document, signature):
        path.unlink()
    document.with_name(name).write_bytes(newer)
    text = sign(key, newer, comment).text()
    document.with_name(f"{name}.{key.id}.minisig").write_text(text)
    assert ensure(sent).compiled
    assert warnings(caplog) == []


def test_an_unwritable_cache_is_an_error_in_words_as_for_a_build(
    sent: JitSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> str:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(FolderBucket, "fetch", full)
    with pytest.raises(SetupError, match="No space left"):
        ensure(sent)


def test_no_signature_is_needed_in_a_folder_of_one_s_own(
    answer, tmp_path: Path, send: Send, elsewhere, monkeypatch: pytest.MonkeyPatch, compiled
) -> None:
    own = f"file://{tmp_path}/own"
    (tmp_path / "own").mkdir(mode=0o755)
    monkeypatch.setenv(settings.REMOTE.name, own)
    spec = answer()
    send(ensure(spec).entry, own)
    elsewhere()
    outcome = ensure(spec)
    assert outcome.why == f"fetched from {own}, from a folder of yours"
    assert len(compiled()) == 1


def test_builds_with_paths_of_their_machine_are_not_asked_for(
    sent: JitSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.JIT_LINEINFO.name, "1")
    assert ensure(sent).compiled


def test_a_remote_that_is_down_is_asked_once_a_minute(
    answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
) -> None:
    monkeypatch.setenv(settings.REMOTE.name, f"file://{tmp_path}/not/mounted")
    ensure(answer(1))
    (tmp_path / "not").mkdir()
    ensure(answer(2))
    assert len(warnings(caplog)) == 1
    assert "asked again for a minute" in warnings(caplog)[0]


def test_what_a_remote_lacks_is_not_asked_for_again_at_once(
    sent: JitSpec, answer, place: Path, send: Send, url: str
) -> None:
    spec = answer(7)
    aside = place.with_name("aside")
    builds = place / "builds"
    builds.rename(aside)
    (first,) = prefetch([spec], ())
    assert first.reasons == [f"{url} does not have it"]
    aside.rename(builds)
    (again,) = prefetch([spec], ())
    assert "a moment ago" in again.reasons[0]
    (patient,) = prefetch([spec], (), patient=True)
    assert patient.reasons == [f"{url} does not have it"]
