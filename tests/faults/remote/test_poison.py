"""What a remote holds is written by anybody: nothing of it is believed that a trusted key did not sign."""

from __future__ import annotations

import json
import re
from datetime import date
from hashlib import sha256

import pytest

from fictl import log
from fictl.builds.building import build
from fictl.jit.progress import LogObserver
from fictl.jit.remote import breaker
from fictl.jit.remote.catalog import signature_name
from fictl.jit.remote.document import canonical, read_document
from fictl.trust.secret_key import SecretKey
from fictl.trust.signature import sign

_DEEP = b"[" * 200_000
_LARGE = b" " * (3 << 20)


def _other_bytes(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.fixture
def refused(filled, pulled, project, monkeypatch, caplog):
    """Ask for the build: it is made here, with a warning that has these words; nothing is left.

    In this process, which is faster; what the command line prints is looked at elsewhere.
    """
    monkeypatch.setattr(breaker, "_down", {})
    monkeypatch.setenv("FICTL_REMOTE_TIMEOUT", "2")
    log.warn_once.cache_clear()

    def ask(*words: str) -> str:
        (made,) = build(["twice"], (), LogObserver())
        assert made.error is None, made.error
        assert pulled() is None
        assert len(project.entries) == 1
        assert project.staging == []
        for word in words:
            assert word in caplog.text, caplog.text
        return caplog.text

    return ask


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-100],
        lambda data: data + b"x",
        _other_bytes,
        lambda _: b"",
        lambda data: data + _LARGE,
    ],
    ids=["truncated", "longer", "other bytes", "empty", "3 MB longer"],
)
def test_a_blob_of_other_bytes_is_a_miss_that_names_it(filled, refused, change):
    filled.write(filled.blob, change(filled.read(filled.blob)))
    refused(filled.url, filled.blob)


def test_a_blob_that_is_gone_is_a_miss_that_names_it(filled, refused):
    blob = filled.blob
    filled.delete(blob)
    refused(filled.url, blob)


def test_a_blob_in_the_place_of_another_is_a_miss(filled, refused, sent):
    blob = filled.blob
    filled.write(blob.replace(blob[-4:], "0000"), sent[blob])
    filled.write(blob, b"another, whole blob")
    refused(filled.url)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: b"",
        lambda _: b"not a signature\n",
        lambda _: b"\xff\xfe\x00",
        lambda _: _LARGE,
        lambda data: data[: len(data) // 2],
        lambda data: re.sub(rb"(?m)^RU.*$", b"RUAA", data),
        lambda data: data.replace(b"trusted comment: fictl", b"trusted comment: fictL"),
    ],
    ids=["empty", "no signature", "no text", "large", "half", "short", "another comment"],
)
def test_a_broken_signature_is_a_miss(filled, refused, change):
    filled.write(filled.signature, change(filled.read(filled.signature)))
    refused(filled.url)


@pytest.mark.parametrize("garbage", [b"", b"not a signature", b"\xff", b" " * (1 << 15)])
def test_a_broken_signature_does_not_hide_another_key_s(filled, fictl_, pulled, keys, garbage):
    """Two trusted keys have signed; whatever becomes of one signature, the other one counts."""
    second = SecretKey.generate()
    keys.trust(second, "second")
    data = filled.read(filled.manifest)
    broken = filled.signature
    write_signed(filled, filled.manifest, data, second, read_document(data).comment)
    filled.write(broken, garbage)
    assert fictl_("build", "twice").code == 0
    assert pulled().manifest.origin["key"] == "second"


def test_an_unsigned_build_is_a_miss(filled, refused):
    filled.delete(filled.signature)
    refused("not signed")


def test_an_unknown_key_is_a_miss_that_names_the_key(filled, refused, keys):
    stranger = SecretKey.generate()
    sign_again(filled, stranger)
    refused(stranger.id)


def test_a_stranger_cannot_use_a_trusted_key_s_number(filled, refused, keys):
    pretender = SecretKey(keys.secret.id, SecretKey.generate().seed)
    sign_again(filled, pretender)
    refused(keys.secret.id)


def test_nobody_is_trusted_without_a_list(filled, refused, keys):
    keys.forget()
    refused(keys.secret.id)


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        ({"expires": date(2026, 1, 1)}, "expired"),
        ({"projects": ("fictl", "tin", "tiny_*")}, "tiny"),
    ],
)
def test_a_key_counts_until_its_last_day_and_for_its_projects(filled, refused, keys, limits, word):
    keys.forget()
    keys.trust(keys.secret, **limits)
    refused(keys.secret.id, word)


def test_one_warning_for_many_builds_of_one_stranger(filled, refused, sent):
    stranger = SecretKey.generate()
    document = read_document(sent[filled.manifest])
    filled.delete(filled.manifest)
    for number in range(5):
        changed = {**json.loads(document.data), "builder": f"mallory {number}"}
        add(filled, canonical(changed), stranger)
    assert refused(stranger.id).count(stranger.id) == 1


def test_a_signature_of_another_build_is_a_miss(filled, refused, sent, keys):
    """It is valid, of a trusted key, and was made for other bytes."""
    other = json.loads(sent[filled.manifest])
    other["builder"] = "somebody else"
    signature = filled.signature
    name = add(filled, canonical(other), keys.secret)
    replayed = signature_name(name, keys.secret.id)
    filled.write(signature, filled.read(replayed))
    filled.delete(name)
    filled.delete(replayed)
    refused(keys.secret.id)


def test_a_build_that_was_moved_to_another_recipe_is_a_miss(
    filled, project, fictl_, compiles, keys
):
    """The launcher is edited: what lies under its new recipe is the old build, signed by ci."""
    old = filled.objects
    project.multiply_by(7)
    assert fictl_("build", "twice", FICTL_REMOTE_MODE="off").code == 0
    compiles()
    (entry,) = project.entries
    recipe, build = entry.manifest.recipe, entry.manifest.build
    for name, data in old.items():
        if name.startswith("builds/") and not name.endswith("/index.json"):
            folder, _, file = name.rpartition("/")
            moved = folder.rpartition("/")[0] + f"/{recipe}/" + build + file[file.index("-") :]
            filled.write(moved, data)
    answer = fictl_("build", "twice", FICTL_WORKSPACE_BASE="another")
    assert answer.code == 0
    assert filled.url in answer.err
    assert compiles() == 1


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"null", b"[]", b"{}", b"\xff", _DEEP, _LARGE, b'{"schema": "fictl.build/1"}'],
    ids=["empty", "cut", "null", "list", "nothing", "no text", "deep", "large", "schema alone"],
)
def test_what_is_not_a_manifest_is_a_miss_even_signed(filled, refused, keys, data):
    forged(filled, keys.secret, data)
    refused(filled.url)


def test_a_manifest_under_a_hash_that_is_not_its_own_is_a_miss(filled, refused, sent):
    """Nobody needs the key for this: an older, signed document in the place of the newest."""
    name = filled.manifest
    other = re.sub("-[0-9a-f]{64}", "-" + 64 * "0", name)
    for old in (name, filled.signature):
        filled.write(old.replace(name, other), sent[old])
        filled.delete(old)
    refused(filled.url)


@pytest.mark.parametrize(
    "changes",
    [
        {"module": "../../../../evil"},
        {"module": "elementwise.other"},
        {"project": "another"},
        {"project": ".."},
        {"recipe": "../" * 8 + "tmp/evil"},
        {"build": "../../evil"},
        {"build": "/tmp/evil"},
        {"files": {}},
        {"files": {"manifest.json": {"size": 1, "sha256": 64 * "0"}}},
        {"files": {"../../evil.so": {"size": 1, "sha256": 64 * "0"}}},
        {"files": {"/tmp/evil.so": {"size": 1, "sha256": 64 * "0"}}},
        {"files": {"module.so": {"size": -1, "sha256": 64 * "0"}}},
        {"files": {"module.so": {"size": 1e300, "sha256": 64 * "0"}}},
        {"files": {"module.so": {"size": True, "sha256": 64 * "0"}}},
        {"files": {"module.so": {"size": 10 << 40, "sha256": 64 * "0"}}},
        {"files": {"module.so": {"size": 1, "sha256": "../../../../etc/passwd"}}},
        {"files": {f"{number}.so": {"size": 1, "sha256": 64 * "0"} for number in range(5000)}},
        {"files": [["module.so", 1]]},
        {"archs": ["sm_" + 9 * "9"]},
        {"archs": "8.0"},
        {"toolchain": None},
        {"platform": 7},
        {"flags": "none"},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_signed_manifest_that_leads_elsewhere_is_a_miss(filled, refused, keys, changes, tmp_path):
    """A trusted key can be stolen: what it signed still stays in its place."""
    before = set(tmp_path.rglob("evil*"))
    document = json.loads(filled.read(filled.manifest))
    forged(filled, keys.secret, canonical({**document, **changes}))
    refused()
    assert set(tmp_path.rglob("evil*")) == before


def test_a_newer_manifest_is_passed_over_silently(filled, refused, keys):
    document = json.loads(filled.read(filled.manifest))
    newer = {**document, "schema": "fictl.build/9", "files": "of another kind"}
    forged(filled, keys.secret, canonical(newer))
    assert filled.url not in refused()


def test_unknown_facts_in_a_manifest_are_no_reason_to_refuse_it(filled, fictl_, pulled, keys):
    document = json.loads(filled.read(filled.manifest))
    forged(filled, keys.secret, canonical({**document, "of_the_future": {"a": 1}}))
    assert fictl_("build", "twice").code == 0
    assert pulled()


@pytest.mark.parametrize("first", ["bad blob", "unsigned", "stranger"])
def test_a_bad_candidate_does_not_hide_a_good_one(filled, fictl_, pulled, keys, first):
    """Several builds of one key, some spoiled: in whatever order they are listed, one is taken."""
    document = json.loads(filled.read(filled.manifest))
    for number in range(4):
        changed = {**document, "builder": f"{first} {number}"}
        if first == "bad blob":
            stamp = {"size": 4, "sha256": 63 * "0" + str(number)}
            changed["files"] = {**document["files"], "module.so": stamp}
            filled.write(f"blobs/sha256/00/{stamp['sha256']}", b"evil")
        stranger = SecretKey.generate()
        name = add(filled, canonical(changed), stranger if first == "stranger" else keys.secret)
        if first == "unsigned":
            filled.delete(signature_name(name, keys.secret.id))
    assert fictl_("build", "twice").code == 0
    assert pulled()


def test_many_builds_that_nobody_trusts_do_not_hide_a_good_one(filled, fictl_, pulled):
    """Whoever can write there fills the folder."""
    document = json.loads(filled.read(filled.manifest))
    build, stranger = document["build"], SecretKey.generate()
    for number in range(40):
        changed = {**document, "builder": f"mallory {number}"}
        name = add(filled, canonical(changed), stranger)
        if number % 2:
            filled.delete(signature_name(name, stranger.id))
    assert len([name for name in filled.names if build in name]) >= 60
    assert fictl_("build", "twice").code == 0
    assert pulled()


@pytest.mark.parametrize("name", ["-.json", "a" * 400 + ".json", "%2e%2e/x.json", "x y", "é.json"])
def test_strange_names_in_the_list_are_passed_over(old_s3, old_server, sent, fictl_, pulled, name):
    old_s3.hold(sent)
    folder = old_s3.manifest.rpartition("/")[0]
    old_server.objects[f"/fictl/old/{folder}/{name}"] = b"evil"
    assert fictl_("build", "twice").code == 0
    assert pulled()


@pytest.mark.parametrize("name", ["..", "../../x.json", "x\n.json", "x\0.json", "//x.json"])
def test_names_that_lead_elsewhere_are_refused_in_words(
    old_s3, old_server, sent, fictl_, pulled, name
):
    """The client refuses the whole list then; S3 itself makes no such names."""
    old_s3.hold(sent)
    folder = old_s3.manifest.rpartition("/")[0]
    old_server.objects[f"/fictl/old/{folder}/{name}"] = b"evil"
    answer = fictl_("build", "twice")
    assert answer.code == 0
    assert pulled() or old_s3.url in answer.err


def test_links_in_a_shared_folder_are_not_followed(folder, sent, fictl_, pulled, tmp_path):
    folder.hold(sent)
    root = tmp_path / "shared folder"
    outside = tmp_path / "outside"
    outside.write_bytes(folder.read(folder.blob))
    blob = root / folder.blob
    blob.unlink()
    blob.symlink_to(outside)
    assert fictl_("build", "twice").code == 0
    assert pulled() is None


def test_a_folder_that_others_can_write_needs_signatures(folder, sent, fictl_, pulled, tmp_path):
    folder.hold({name: data for name, data in sent.items() if not name.endswith(".minisig")})
    root = tmp_path / "shared folder"
    assert fictl_("build", "twice", FICTL_WORKSPACE_BASE=str(tmp_path / "own")).code == 0
    for path in (root, *root.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    answer = fictl_("build", "twice")
    assert answer.code == 0
    assert "not signed" in answer.err
    assert pulled() is None


def add(remote, data: bytes, key: SecretKey) -> str:
    """Write a document with its signature where the build it claims to be has its place."""
    document = read_document(data)
    write_signed(remote, document.name, data, key, document.comment)
    return document.name


def forged(remote, key: SecretKey, data: bytes) -> None:
    """Put these bytes, signed as they should be, in the place of the only document."""
    name, signature = remote.manifest, remote.signature
    comment = read_document(remote.read(name)).comment
    remote.delete(name)
    remote.delete(signature)
    hashed = re.sub("-[0-9a-f]{64}", f"-{sha256(data).hexdigest()}", name)
    write_signed(remote, hashed, data, key, comment)


def sign_again(remote, key: SecretKey) -> None:
    """Have the only document signed by this key alone."""
    name, data = remote.manifest, remote.read(remote.manifest)
    remote.delete(remote.signature)
    write_signed(remote, name, data, key, read_document(data).comment)


def write_signed(remote, name: str, data: bytes, key: SecretKey, comment: str) -> None:
    text = sign(key, data, comment).text()
    remote.write(signature_name(name, key.id), text.encode())
    remote.write(name, data)
