"""Pushing: the order in which files appear, and what is refused before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import SetupError, UsageError
from fictl.jit.remote.folder import FolderBucket
from fictl.jit.remote.sweep import sweep
from fictl.jit.remote.url import open_bucket
from fictl.jit.store.entry import MODULE
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.index import read_index
from fictl.ship.artifacts.push import Pushed, push
from fictl.ship.artifacts.signed import read_signed

from .conftest import NOON, OTHER, Watch


@pytest.fixture
def send(folder: ArtifactsFolder, repository: Path, watch: Watch):
    def run(name: str = "2026.11", sha256: str = "", url: str = "") -> Pushed:
        return push(name, sha256, url or repository.as_uri(), folder, watch)

    return run


def _names(repository: Path) -> set[str]:
    paths = (path for path in repository.rglob("*") if path.is_file())
    return {str(path.relative_to(repository)) for path in paths}


def test_a_reader_sees_all_or_nothing(
    freeze, key, send, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    write, blob = FolderBucket.write, FolderBucket.send

    def writes(self: FolderBucket, name: str, data: bytes) -> None:
        if self.root == repository:
            order.append(name)
        write(self, name, data)

    def sends(self: FolderBucket, name: str, source: Path) -> None:
        order.append(name)
        blob(self, name, source)

    signed = freeze()
    monkeypatch.setattr(FolderBucket, "write", writes)
    monkeypatch.setattr(FolderBucket, "send", sends)
    send()
    path = signed.snapshot.path
    assert order[0] == "fictl-remote.json"
    assert all(name.startswith("blobs/sha256/") for name in order[1:3])
    assert order[3:] == [f"{path}.minisig", path, "snapshots/index.json"]


def test_it_counts_what_went_and_sends_nothing_twice(
    freeze, key, send, build, watch: Watch
) -> None:
    signed = freeze("a", build(), build("rope.apply"))
    first = send("a")
    assert (first.sent, first.present, first.size) == (2, 0, signed.snapshot.size)
    assert watch.bytes == first.size
    again = send("a")
    assert (again.sent, again.present, again.size) == (0, 2, 0)
    freeze("b", build(), build("top.p"), at=NOON + 1)
    assert (send("b").sent, watch.bytes) == (1, first.size + len(build("top.p")[1]))


def test_truncated_and_changed_blobs_are_sent_again(freeze, key, send, repository: Path) -> None:
    freeze()
    send()
    one, other = sorted((repository / "blobs").rglob("?" * 64))
    one.write_bytes(b"")
    other.write_bytes(b"X" + other.read_bytes()[1:])
    assert send().sent == 2
    assert send().sent == 0


def test_a_snapshot_that_was_built_without_a_key_is_signed_now(
    freeze, send, folder, repository: Path, request: pytest.FixtureRequest
) -> None:
    freeze()
    key = request.getfixturevalue("key")
    assert send().is_signed
    bucket = open_bucket(repository.as_uri())
    (entry,) = read_index(bucket)
    assert key.id in read_signed(bucket, entry.path).signature
    assert folder.newest("2026.11").signature


def test_an_unsigned_one_goes_to_a_folder_of_ones_own_alone(
    freeze, send, repository: Path, tmp_path: Path
) -> None:
    freeze()
    with pytest.raises(SetupError, match="is not signed, and nobody would use it") as caught:
        send()
    assert "FICTL_SIGNING_KEY" in caught.value.hint
    assert _names(repository) == set()
    assert not send(url=(tmp_path / "own").as_uri()).is_signed


def test_a_part_of_a_snapshot_is_not_sent(
    freeze, key, send, folder, build, repository: Path
) -> None:
    freeze("a", build(), build("rope.apply", platform=OTHER))
    (folder.place(build()[0]) / MODULE).write_bytes(b"x")
    with pytest.raises(UsageError, match="1 build of a is not whole in"):
        send("a")
    assert _names(repository) == set()


def test_somebody_elses_folder_is_left_alone(freeze, key, send, repository: Path) -> None:
    freeze()
    (repository / "precious").touch()
    with pytest.raises(UsageError, match="holds something that fictl did not put there"):
        send()
    assert _names(repository) == {"precious"}


def test_a_web_server_cannot_be_written(freeze, key, send) -> None:
    freeze()
    with pytest.raises(UsageError, match="read only"):
        send(url="http://127.0.0.1:9/x")


def test_an_unknown_snapshot_is_named_with_those_there_are(freeze, key, send, folder) -> None:
    with pytest.raises(UsageError, match=r"has no snapshot 2026\.11") as caught:
        send()
    assert "fictl artifacts build 2026.11" in caught.value.hint
    freeze("a")
    with pytest.raises(UsageError) as caught:
        send()
    assert caught.value.hint == "it has a"


def test_the_cleaning_of_a_remote_keeps_what_a_snapshot_names(
    freeze, key, send, repository: Path
) -> None:
    """Blobs of builds and of snapshots lie side by side."""
    import os

    freeze()
    send()
    for path in (repository / "blobs").rglob("?" * 64):
        os.utime(path, (0, 0))
    before = _names(repository)
    swept = sweep(open_bucket(repository.as_uri()), 0.0)
    assert swept.blobs == ()
    assert _names(repository) == before
