"""Snapshots: what one says, and that nothing else passes for one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fictl.jit.remote.bucket import BadAnswer
from fictl.jit.remote.document import canonical
from fictl.ship.artifacts.snapshot import make_snapshot, module_hash, read_snapshot

from .conftest import NOON


@pytest.fixture
def plain(build) -> dict[str, Any]:
    """The content of a good snapshot, to be spoilt."""
    snapshot = make_snapshot("2026.11", [build("norm.rms")[0], build("rope.apply")[0]], NOON)
    return json.loads(snapshot.data)


def test_a_snapshot_is_read_as_it_was_made(build) -> None:
    documents = [build(name)[0] for name in ("rope.apply", "norm.rms")]
    made = make_snapshot("2026.11", documents, NOON)
    again = read_snapshot(made.data)
    assert again == made
    assert [one.manifest.module for one in again.documents] == ["norm.rms", "rope.apply"]
    assert {one.data for one in again.documents} == {one.data for one in documents}
    assert again.created == "2026-11-18T11:06:40Z"
    assert again.path == f"snapshots/2026.11-{again.sha256}.json"
    assert again.comment == "fictl.snapshot 2026.11"
    assert again.files == {
        module_hash(one): one.manifest.files["module.so"].size for one in documents
    }


def test_the_order_of_builds_changes_no_byte(build) -> None:
    one, other = build("norm.rms")[0], build("rope.apply")[0]
    assert make_snapshot("x", [one, other], NOON) == make_snapshot("x", [other, one], NOON)


def test_a_build_that_only_a_newer_fictl_reads_is_counted_and_its_file_is_kept(plain) -> None:
    plain["builds"][0]["schema"] = "fictl.build/2"
    snapshot = read_snapshot(canonical(plain))
    assert (len(snapshot.documents), snapshot.newer, len(snapshot.files)) == (1, 1, 2)


def _file(plain: dict[str, Any]) -> dict[str, Any]:
    return plain["builds"][0]["files"]["module.so"]


def _second_size(plain: dict[str, Any]) -> None:
    plain["builds"][1]["files"]["module.so"] = {**_file(plain), "size": 7}


def _nested(plain: dict[str, Any]) -> None:
    inner: list[Any] = []
    for _ in range(500):
        inner = [inner]
    plain["builds"][0]["parameters"] = {"x": inner, "y": 1}
    plain["builds"][0]["archs"] = inner


SPOILT = {
    "another document": (lambda it: it.update(schema="fictl.build/1"), "its schema is"),
    "of a newer fictl": (lambda it: it.update(schema="fictl.snapshot/2"), "a newer fictl made it"),
    "without a name": (lambda it: it.pop("name"), "'name'"),
    "a name with dots": (lambda it: it.update(name="../x"), "its name or its time"),
    "a name that is a list": (lambda it: it.update(name=["x"]), "its name or its time"),
    "a time that is none": (lambda it: it.update(created="now"), "its name or its time"),
    "builds that are text": (lambda it: it.update(builds="xy"), "not a snapshot"),
    "builds without end": (lambda it: it.update(builds=[{}] * 20_001), "20000 is the most"),
    "a build twice": (lambda it: it["builds"].append(it["builds"][0]), "twice"),
    "a module that leads out": (
        lambda it: it["builds"][0].update(module="../../x"),
        "its names are not ours",
    ),
    "a project that is absolute": (
        lambda it: it["builds"][0].update(project="/etc"),
        "its names are not ours",
    ),
    "a recipe that is a number": (lambda it: it["builds"][0].update(recipe=7), "not a snapshot"),
    "a file that leads out": (
        lambda it: it["builds"][0]["files"].update({"../x": _file(it)}),
        "not a snapshot",
    ),
    "a hidden file": (
        lambda it: it["builds"][0]["files"].update({".bashrc": _file(it)}),
        "not a snapshot",
    ),
    "no module": (lambda it: it["builds"][0].update(files={"x": _file(it)}), "has no module.so"),
    "no files": (lambda it: it["builds"][0].update(files={}), "not a snapshot"),
    "a hash that is a path": (
        lambda it: _file(it).update(sha256="../" * 21 + "a"),
        "is not the hash",
    ),
    "a negative size": (lambda it: _file(it).update(size=-1), "is not the hash and the size"),
    "a huge size": (lambda it: _file(it).update(size=10**15), "is not the hash and the size"),
    "a size that is true": (lambda it: _file(it).update(size=True), "is not the hash and the size"),
    "two sizes of one hash": (_second_size, "bytes, and"),
    "an architecture that is none": (
        lambda it: it["builds"][0].update(archs=["fast"]),
        "of its build 'norm.rms'",
    ),
    "a deep nest": (_nested, "not a snapshot"),
}


@pytest.mark.parametrize(("spoil", "why"), SPOILT.values(), ids=SPOILT)
def test_what_is_no_snapshot_is_refused_in_words(plain, spoil, why: str) -> None:
    spoil(plain)
    with pytest.raises(BadAnswer, match=why) as caught:
        read_snapshot(canonical(plain))
    assert "it is not a snapshot" in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"schema": "fictl.snapshot/1"}'],
    ids=["empty", "truncated", "list", "null", "bytes", "nested", "nothing in it"],
)
def test_bytes_that_are_no_document_are_refused(data: bytes) -> None:
    with pytest.raises(BadAnswer, match="it is not a snapshot"):
        read_snapshot(data)


def test_another_spelling_of_the_same_content_is_refused(plain) -> None:
    """What is signed has one spelling: no key twice, no spaces."""
    text = canonical(plain)
    for other in (
        json.dumps(plain, indent=1).encode(),
        text.replace(b'"name":', b'"name":"other","name":'),
        text + b"\n",
    ):
        with pytest.raises(BadAnswer, match="is not spelled as fictl spells it"):
            read_snapshot(other)
