"""Snapshots that are pushed and pulled while processes are killed, repositories are spoiled, or there is no network."""

from __future__ import annotations

import json
import re
from itertools import count

import pytest

from fictl.ship.artifacts.folder import ArtifactsFolder

from ...servers.proxy import around, cut, hang, reset, status
from .killing import KILLED, killed_at_request, spread

_NAME = "nightly"


@pytest.fixture
def frozen(project, keys, fictl_, tmp_path):
    """The folder of a snapshot of `twice`, which was built here and signed."""
    folder = tmp_path / "frozen"
    answer = fictl_("artifacts", "build", _NAME, "twice", "--dir", str(folder))
    assert answer.code == 0, answer.err
    return folder


@pytest.fixture
def repository(s3, frozen, fictl_):
    """An S3 server that has the snapshot."""
    answer = fictl_("artifacts", "push", _NAME, "--to", s3.url, "--dir", str(frozen))
    assert answer.code == 0, answer.err
    s3.proxy.forget()
    return s3


def _pull(url, folder):
    return ("artifacts", "pull", _NAME, "--from", url, "--dir", str(folder))


def _assert_whole_if_there(folder) -> int:
    """Count the builds that a lookup would take: every one is as it was signed."""
    entries = [path.parent for path in folder.glob("v1/*/*/*/*/manifest.json")]
    place = ArtifactsFolder.at(folder)
    for signed in place.snapshots():
        assert signed.verdict().is_trusted
        assert all(place.entry(document) for document in signed.snapshot.documents)
    assert not list(folder.rglob("*.lock"))
    return len(entries)


def test_a_pull_killed_at_any_request_goes_on_where_it_was(repository, forks, fictl_, tmp_path):
    assert forks.run(*_pull(repository.url, tmp_path / "first"))[0] == 0
    requests = len(repository.proxy.requests)
    assert requests >= 3
    for number in range(requests):
        for when in ("before", "after"):
            folder = tmp_path / f"{when} {number}"
            words = _pull(repository.url, folder)
            assert killed_at_request(repository, forks, number, when, words) == KILLED
            _assert_whole_if_there(folder)
            assert forks.run(*words)[0] == 0
            assert _assert_whole_if_there(folder) == 1
    assert fictl_("artifacts", "verify", str(folder)).code == 0


def test_a_pull_killed_at_any_step_goes_on_where_it_was(folder, frozen, forks, fictl_, tmp_path):
    answer = fictl_("artifacts", "push", _NAME, "--to", folder.url, "--dir", str(frozen))
    assert answer.code == 0, answer.err
    code, steps = forks.run(*_pull(folder.url, tmp_path / "first"))
    assert code == 0
    for point in spread(steps):
        place = tmp_path / f"step {point}"
        assert forks.run(*_pull(folder.url, place), die_at=point)[0] == KILLED
        _assert_whole_if_there(place)
        if point % 3 == 0:
            assert forks.run(*_pull(folder.url, place))[0] == 0
            assert _assert_whole_if_there(place) == 1


def test_a_push_killed_at_any_request_shows_nothing_half(s3, frozen, forks, fictl_, tmp_path):
    push = ("artifacts", "push", _NAME, "--to", s3.url, "--dir", str(frozen))
    for number in count():
        for when in ("before", "after"):
            s3.hold({})
            code = killed_at_request(s3, forks, number, when, push)
            _assert_shown_whole(s3.objects)
        if code != KILLED:
            break  # It makes no more requests.
    assert number >= 6
    assert fictl_(*_pull(s3.url, tmp_path / "pulled")).code == 0


def _assert_shown_whole(objects) -> None:
    """Every snapshot that can be seen is signed, and all its blobs are there."""
    for name in objects:
        if re.fullmatch(r"snapshots/.*-[0-9a-f]{64}\.json", name):
            assert f"{name}.minisig" in objects
            builds = json.loads(objects[name])["builds"]
            for stamp in (it for build in builds for it in build["files"].values()):
                blob = f"blobs/sha256/{stamp['sha256'][:2]}/{stamp['sha256']}"
                assert len(objects[blob]) == stamp["size"]


@pytest.mark.parametrize(
    "fault", [hang, reset, status(500), cut(50)], ids=["hang", "reset", "500", "cut"]
)
def test_a_mirror_that_fails_is_passed_over_for_the_next(
    repository, frozen, fictl_, tmp_path, folder, fault
):
    answer = fictl_("artifacts", "mirror", repository.url, folder.url)
    assert answer.code == 0, answer.err
    repository.proxy.fail(fault, "blobs/")
    answer = fictl_(
        *("artifacts", "pull", _NAME, "--dir", str(tmp_path / "pulled")),
        FICTL_ARTIFACTS_REPOSITORY=f"{repository.url} {folder.url}",
        FICTL_REMOTE_TIMEOUT="1",
    )
    assert answer.code == 0, answer.err
    assert _assert_whole_if_there(tmp_path / "pulled") == 1


def test_a_blob_that_only_one_of_two_mirrors_has_is_found(repository, folder, fictl_, tmp_path):
    assert fictl_("artifacts", "mirror", repository.url, folder.url).code == 0
    blob = repository.blob
    repository.delete(blob)
    listed = fictl_("artifacts", "verify", repository.url)
    assert listed.code == 1
    assert blob.rpartition("/")[2] in listed.said
    answer = fictl_(
        *("artifacts", "pull", _NAME, "--dir", str(tmp_path / "pulled")),
        FICTL_ARTIFACTS_REPOSITORY=f"{repository.url} {folder.url}",
    )
    assert answer.code == 0, answer.err
    assert _assert_whole_if_there(tmp_path / "pulled") == 1


def test_a_sweep_under_a_pull_is_an_error_that_names_the_blob(repository, fictl_, tmp_path):
    blob = repository.blob
    repository.proxy.fail(around(before=lambda: repository.delete(blob)), "GET .*blobs/", times=1)
    answer = fictl_(*_pull(repository.url, tmp_path / "pulled"))
    assert answer.code == 1
    assert blob.rpartition("/")[2] in answer.err
    assert _assert_whole_if_there(tmp_path / "pulled") == 0


def test_without_a_network_what_is_here_is_verified_and_what_is_not_is_named(
    repository, frozen, without_a_network, tmp_path
):
    code, text, _ = without_a_network("artifacts", "verify", str(frozen))
    assert code == 0, text
    code, text, seconds = without_a_network(*_pull("https://fictl.invalid/a", tmp_path / "pulled"))
    assert code in {1, 3}
    assert seconds < 20
    assert "https://fictl.invalid/a" in text


def test_with_no_download_no_request_is_made(repository, fictl_, connections, tmp_path):
    for words in (
        _pull(repository.url, tmp_path / "pulled"),
        ("artifacts", "list", repository.url),
        ("artifacts", "mirror", repository.url, (tmp_path / "copy").as_uri()),
        ("artifacts", "verify", repository.url),
    ):
        answer = fictl_(*words, FICTL_NO_DOWNLOAD="1")
        assert answer.code in {1, 2, 3}, (words, answer)
    assert (connections(), repository.proxy.requests) == ([], [])
