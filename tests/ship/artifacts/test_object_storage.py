"""Snapshots in object storage: a real S3 server, an old one, and a network that fails."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.ship.artifacts.index import read_index
from fictl.ship.artifacts.mirror import mirror
from fictl.ship.artifacts.pull import pull
from fictl.ship.artifacts.push import push

from ...servers.old_s3 import old_s3_server
from ...servers.proxy import Proxy, cut, flip, hang, proxy_of, reset, status
from ...servers.seaweed import ACCESS_KEY, BUCKET, SECRET_KEY, Seaweed
from .conftest import NOON, Watch

_LIMIT = "1"


def _use(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("FICTL_REMOTE_TIMEOUT", _LIMIT)


@pytest.fixture(params=["seaweed", "old_s3"])
def upstream(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "seaweed":
        server: Seaweed = request.getfixturevalue("seaweed")
        yield server.url
        return
    with old_s3_server() as old:
        yield old.url


@pytest.fixture
def proxy(upstream: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    with proxy_of(upstream) as proxy:
        _use(monkeypatch, proxy.url)
        yield proxy


@pytest.fixture
def url() -> str:
    return f"s3://{BUCKET}/{secrets.token_hex(4)}"


def test_push_mirror_and_pull(
    freeze, key, folder, machine, build, proxy: Proxy, url: str, tmp_path: Path, watch: Watch
) -> None:
    builds = [build(f"op.m{number}") for number in range(5)]
    freeze("a", *builds)
    assert push("a", "", url, folder, watch).sent == 5
    proxy.forget()
    assert push("a", "", url, folder, watch).sent == 0
    assert proxy.count("PUT.*/blobs/") == 0
    disk = (tmp_path / "disk").as_uri()
    assert mirror(url, disk, (), watch).files == 5
    assert mirror(disk, f"{url}-copy", (), watch).files == 5
    assert mirror(disk, f"{url}-copy", (), watch).files == 0
    proxy.forget()
    assert pull("a", "", [f"{url}-copy"], (), False, machine, watch).brought == 5
    assert proxy.count("GET.*/blobs/") == 5


def test_two_pushers_keep_both_snapshots(
    freeze, key, folder, build, proxy: Proxy, url: str, watch: Watch
) -> None:
    from fictl.jit.remote.url import open_bucket

    freeze("a", build(), at=NOON)
    freeze("b", build("rope.apply"), at=NOON + 1)
    push("a", "", url, folder, watch)
    bucket = open_bucket(url)
    stale = bucket.read("snapshots/index.json", 1 << 20)
    push("b", "", url, folder, watch)
    bucket.write("snapshots/index.json", stale)
    push("a", "", url, folder, watch)
    assert {entry.name for entry in read_index(bucket)} == {"a", "b"}


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (hang, "time"),
        (cut(100), ""),
        (status(403), "refuses"),
        (status(500), "500"),
        (reset, ""),
        (flip(), "other bytes"),
    ],
    ids=["hangs", "cut off", "forbidden", "failing", "reset", "flipped"],
)
def test_a_network_that_fails_is_an_error_in_words_and_nothing_half_is_left(
    freeze, key, folder, machine, build, seaweed: Seaweed, url: str, monkeypatch, watch, fault, why
) -> None:
    monkeypatch.setenv("FICTL_ARTIFACTS_DOWNLOAD_THREADS", "1")
    freeze("a", build())
    with proxy_of(seaweed.url) as proxy:
        _use(monkeypatch, proxy.url)
        push("a", "", url, folder, watch)
        proxy.fail(fault, "GET .*/blobs/")
        pulled = pull("a", "", [url], (), False, machine, watch)
        assert why in pulled.missing[0].error.reasons[0][1]
        assert not [*machine.root.rglob("module.so")]
        assert not (machine.root / ".staging").exists()
        proxy.fail(fault, "GET .*/snapshots/")
        with pytest.raises(FictlError):
            pull("b", "", [url], (), False, machine, watch)
    with proxy_of(seaweed.url) as proxy:
        _use(monkeypatch, proxy.url)
        assert pull("a", "", [url], (), False, machine, watch).brought == 1
