"""Buckets of each kind: a folder, memory, and a web server; none lets a name lead out of it."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fictl import settings
from fictl.errors import InvalidValue, UsageError
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere, RemoteFailed
from fictl.jit.remote.url import explained, open_bucket

BIG = os.urandom(700_000)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    handler = partial(Quiet, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(params=["file", "memory"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Bucket:
    place = tmp_path / "bucket"
    place.mkdir()
    return open_bucket(f"{request.param}://{place}")


def test_what_is_written_is_read_and_listed(bucket: Bucket, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(BIG)
    bucket.write("a/b/one", b"1")
    bucket.write("a/bc/other", b"2")
    bucket.send("blobs/big", tmp_path / "big")
    assert bucket.read("a/b/one", 10) == b"1"
    assert bucket.fetch("blobs/big", tmp_path / "copy", len(BIG)) == hashlib.sha256(BIG).hexdigest()
    assert (tmp_path / "copy").read_bytes() == BIG
    assert bucket.size("a/b/one") == 1
    assert bucket.size("a/b/two") is None
    assert [(entry.name, entry.size) for entry in bucket.listed("a/b")] == [("a/b/one", 1)]
    assert {entry.name for entry in bucket.listed("")} == {"a/b/one", "a/bc/other", "blobs/big"}
    bucket.delete("a/b/one")
    bucket.delete("a/b/one")
    assert list(bucket.listed("a/b")) == []


def test_what_is_missing_is_not_an_error_of_the_remote(bucket: Bucket, tmp_path: Path) -> None:
    with pytest.raises(NotThere):
        bucket.read("a", 10)
    with pytest.raises(NotThere):
        bucket.fetch("a", tmp_path / "copy", 10)
    assert list(bucket.listed("a")) == []


@pytest.mark.parametrize("size", [len(BIG) - 1, len(BIG) + 1, 0])
def test_another_size_than_announced_is_refused(bucket: Bucket, tmp_path: Path, size: int) -> None:
    bucket.write("big", BIG)
    with pytest.raises(BadAnswer):
        bucket.fetch("big", tmp_path / "copy", size)
    with pytest.raises(BadAnswer):
        bucket.read("big", len(BIG) - 1)


@pytest.mark.parametrize(
    "name", ["../a", "a/../b", "/etc/passwd", "a//b", ".a", "a\n", "", "a/" * 20]
)
def test_a_name_that_leads_out_is_refused(bucket: Bucket, tmp_path: Path, name: str) -> None:
    for action in (
        lambda: bucket.read(name, 10),
        lambda: bucket.write(name, b""),
        lambda: bucket.fetch(name, tmp_path / "copy", 1),
        lambda: bucket.delete(name),
        lambda: bucket.size(name),
    ):
        with pytest.raises(BadAnswer):
            action()


def test_links_and_pipes_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    place = tmp_path / "bucket"
    place.mkdir()
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret")
    (place / "linked").symlink_to(tmp_path / "private")
    (place / "file").symlink_to(tmp_path / "private" / "key")
    os.mkfifo(place / "pipe")
    bucket = open_bucket(f"file://{place}")
    for name in ("linked/key", "file", "pipe"):
        with pytest.raises((RemoteFailed, NotThere)):
            bucket.read(name, 100)
    with pytest.raises(RemoteFailed):
        bucket.write("linked/new", b"")
    bucket.write("file", b"ours")
    assert (tmp_path / "private" / "key").read_text() == "secret"
    assert [entry.name for entry in bucket.listed("")] == ["file"]
    assert list((tmp_path / "private").iterdir()) == [tmp_path / "private" / "key"]


def test_a_folder_of_the_user_alone_needs_no_signature(tmp_path: Path) -> None:
    place = tmp_path / "bucket"
    bucket = open_bucket(f"file://{place}")
    bucket.write("a/b/c", b"")
    place.chmod(0o755)
    for level in (place / "a", place / "a/b"):
        level.chmod(0o755)
    (place / "a/b/c").chmod(0o644)
    assert bucket.is_own("a/b/c")
    for level in (place / "a/b/c", place / "a", place):
        before = level.stat().st_mode
        level.chmod(before | 0o020)
        assert not bucket.is_own("a/b/c")
        level.chmod(before)


def test_a_folder_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    assert list(open_bucket(f"file://{tmp_path}/new").listed("a")) == []
    bucket = open_bucket(f"file://{tmp_path}/not/mounted")
    with pytest.raises(RemoteFailed, match="No such file"):
        bucket.read("a", 10)
    with pytest.raises(RemoteFailed, match="No such file"):
        list(bucket.listed("a"))


def test_a_web_server_is_read(web: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(BIG)
    bucket = open_bucket(web)
    assert (bucket.lists, bucket.writable) == (False, False)
    assert bucket.fetch("a/b", tmp_path / "copy", len(BIG)) == hashlib.sha256(BIG).hexdigest()
    with pytest.raises(BadAnswer):
        bucket.read("a/b", 1000)
    with pytest.raises(NotThere):
        bucket.read("a/c", 1000)


def test_a_server_that_is_down_is_said_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(RemoteFailed, match="nothing listens there"):
        open_bucket("http://127.0.0.1:1/x").read("a", 10)


def test_no_request_is_made_where_none_is_allowed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(settings.NO_DOWNLOAD.name, "1")
    with pytest.raises(RemoteFailed, match=settings.NO_DOWNLOAD.name):
        open_bucket("https://example.com/x")
    open_bucket(f"file://{tmp_path}")


@pytest.mark.parametrize("url", ["ftp://a/b", "https://a/b?x=1", "s3://a#b", "x"])
def test_what_is_not_a_url_of_a_remote_is_refused(url: str) -> None:
    with pytest.raises(InvalidValue):
        open_bucket(url)


def test_a_folder_of_another_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="three slashes"):
        open_bucket("file://server/folder")


def test_passwords_in_a_url_are_not_shown() -> None:
    bucket = open_bucket("https://user:hunter2@127.0.0.1:1/x")
    assert "hunter2" not in bucket.url
    assert "hunter2" not in repr(bucket)
    with pytest.raises(RemoteFailed) as error:
        bucket.read("a", 10)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Server returned non-2xx status code: 403 Forbidden: <xml>key AKIA</xml>", "credentials"),
        ("PUT http://169.254.169.254/latest/api/token", "no credentials"),
        ("status code: 404 Not Found: <Code>NoSuchBucket</Code>", "no such bucket"),
        ("status code: 500 Internal Server Error", "status 500"),
        ("source: TimedOut", "in time"),
        ("dns error: failed to lookup address information", "resolved"),
        ("invalid peer certificate: UnknownIssuer", "certificate"),
        ("something", "broke"),
    ],
)
def test_reasons_are_in_words_and_without_the_server_s_text(text: str, reason: str) -> None:
    told, _, _ = explained(text)
    assert reason in told
    assert "AKIA" not in told
