"""The old clone forgets conditions, pages its lists, and is otherwise a store."""

from __future__ import annotations

import pytest

from .old_s3 import old_s3_server


@pytest.fixture
def clone():
    with old_s3_server() as server:
        yield server


@pytest.fixture
def store(clone):
    obstore = pytest.importorskip("obstore.store")
    return obstore.S3Store(
        "bucket",
        config={"endpoint": clone.url, "region": "us-east-1", "skip_signature": True},
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )


def test_it_stores_lists_and_deletes(clone, store):
    for name in ("a/1", "a/2", "a/b/3", "a/b/4", "c&d"):
        store.put(name, name.encode())
    assert bytes(store.get("a/b/3").bytes()) == b"a/b/3"
    assert [item["path"] for page in store.list("a") for item in page] == [
        "a/1",
        "a/2",
        "a/b/3",
        "a/b/4",
    ]
    assert clone.pages == 2
    level = store.list_with_delimiter("a")
    assert [item["path"] for item in level["objects"]] == ["a/1", "a/2"]
    assert list(level["common_prefixes"]) == ["a/b"]
    store.delete(["a/1", "c&d"])
    assert sorted(clone.objects) == ["/bucket/a/2", "/bucket/a/b/3", "/bucket/a/b/4"]
    with pytest.raises(FileNotFoundError):
        store.get("a/1")


def test_it_overwrites_what_should_only_be_created(clone, store):
    for value in (b"first", b"second"):
        store.put("it", value, mode="create")
    assert clone.objects == {"/bucket/it": b"second"}


def test_its_list_may_be_stale(clone, store):
    for name in ("a/1", "a/2"):
        store.put(name, b"")
    clone.unlisted = "a/2$"
    assert [item["path"] for page in store.list("a") for item in page] == ["a/1"]
    assert bytes(store.get("a/2").bytes()) == b""
