"""Transfers: the order of mirrors, what is hashed, and what is left behind."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import pytest

from fictl.jit.remote.document import blob_name
from fictl.jit.remote.url import open_bucket
from fictl.ship.artifacts.transfer import NowhereError, Repositories, each_of

_DATA = b"the bytes of a module" * 1000
_HASH = hashlib.sha256(_DATA).hexdigest()


@pytest.fixture
def mirrors(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / name for name in ("one", "two", "three")]
    for path in paths:
        path.mkdir()
    return paths


def _fill(path: Path, data: bytes = _DATA) -> None:
    open_bucket(path.as_uri()).write(blob_name(_HASH), data)


def _open(mirrors: list[Path]) -> Repositories:
    return Repositories.open(path.as_uri() for path in mirrors)


def test_the_first_mirror_that_has_the_right_bytes_serves(mirrors, tmp_path: Path) -> None:
    _fill(mirrors[1], b"x" + _DATA[1:])
    _fill(mirrors[2])
    _open(mirrors).fetch(_HASH, len(_DATA), tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == _DATA


SPOILT = {
    "other bytes": (b"x" + _DATA[1:], "other bytes"),
    "truncated": (_DATA[:-1], "bytes"),
    "longer": (_DATA + b"x", "bytes"),
    "empty": (b"", "bytes"),
}


@pytest.mark.parametrize(("data", "why"), SPOILT.values(), ids=SPOILT)
def test_wrong_bytes_are_refused_by_name_and_leave_no_file(
    mirrors, tmp_path: Path, data: bytes, why: str
) -> None:
    _fill(mirrors[0], data)
    with pytest.raises(NowhereError, match=why) as caught:
        _open(mirrors).fetch(_HASH, len(_DATA), tmp_path / "got")
    assert [url for url, _ in caught.value.reasons] == [path.as_uri() for path in mirrors]
    assert caught.value.reasons[1][1] == "has nothing of that name"
    assert _HASH in caught.value.message
    assert not (tmp_path / "got").exists()


def test_a_checksum_switch_lets_no_wrong_byte_in(
    mirrors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_ARTIFACTS_CHECKSUM_DISABLED", "1")
    _fill(mirrors[0], b"x" + _DATA[1:])
    with pytest.raises(NowhereError, match="other bytes"):
        _open(mirrors[:1]).fetch(_HASH, len(_DATA), tmp_path / "got")


def test_no_download_closes_what_needs_a_network_and_no_folder(
    mirrors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_NO_DOWNLOAD", "1")
    urls = ["https://example.invalid/x", "s3://bucket/x", mirrors[0].as_uri()]
    repositories = Repositories.open(urls)
    assert [bucket.url for bucket in repositories.buckets] == urls[2:]
    assert [url for url, _ in repositories.closed] == urls[:2]
    assert "FICTL_NO_DOWNLOAD forbids" in repositories.closed[0][1]


def test_a_mirror_that_fails_again_and_again_is_not_asked_again(mirrors, tmp_path: Path) -> None:
    _fill(mirrors[0])
    nobody = "http://127.0.0.1:9/fictl"
    repositories = Repositories.open([nobody, mirrors[0].as_uri()])
    for number in range(3):
        repositories.fetch(_HASH, len(_DATA), tmp_path / f"got{number}")
    with pytest.raises(NowhereError, match="it failed before and is not asked again"):
        repositories.fetch("0" * 64, 1, tmp_path / "none")


def test_several_run_at_once_and_results_come_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_ARTIFACTS_DOWNLOAD_THREADS", "3")
    together = threading.Barrier(3, timeout=30)

    def action(item: int) -> int:
        together.wait()
        return item * 10

    assert [*each_of([1, 2, 3], action)] == [10, 20, 30]


def test_an_error_ends_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_ARTIFACTS_DOWNLOAD_THREADS", "1")
    begun: list[int] = []

    def action(item: int) -> None:
        begun.append(item)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        [*each_of(range(100), action)]
    assert len(begun) < 100
