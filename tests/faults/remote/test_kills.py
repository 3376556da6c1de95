"""Pushes and pulls that are killed at any step: nothing broken is visible, nothing is lost, the next one works."""

from __future__ import annotations

import pytest

from fictl.jit.store.staging import STAGING
from fictl.trust.secret_key import SecretKey

from .conftest import DOCUMENT
from .killing import KILLED, PATIENT, killed_at_request, spread
from .test_poison import sign_again
from .test_races import assert_whole


@pytest.fixture
def built(elsewhere) -> dict[str, str]:
    """The cache of a machine that has `twice`, which it has not sent."""
    return elsewhere()


def test_a_killed_push_to_a_folder_shows_whole_builds_alone(folder, built, sent, forks):
    push = ("cache", "push", "twice")
    assert forks.run(*push, **built)[0] == 0
    complete = folder.names
    folder.hold({})
    code, steps = forks.run(*push, **built)
    assert code == 0
    for point in spread(steps):
        folder.hold({})
        code, _ = forks.run(*push, die_at=point, **built)
        assert code == KILLED
        _assert_shown_whole(folder)
        if point % 4 == 0:
            assert forks.run(*push, **built)[0] == 0
            assert set(complete) <= set(folder.names)
            assert_whole(folder)


def test_a_killed_push_loses_nothing_that_was_there(folder, built, sent, forks):
    """The remote has the same build, signed by a stranger, and other things of fictl's."""
    folder.hold({**sent, "blobs/sha256/00/" + 64 * "0": b"of somebody else"})
    sign_again(folder, SecretKey.generate())
    before = folder.objects
    push = ("cache", "push", "twice")
    _, steps = forks.run(*push, **built)
    assert len(folder.names) > len(before)
    for point in spread(steps)[::4]:
        folder.hold(before)
        assert forks.run(*push, die_at=point, **built)[0] == KILLED
        lost = {name for name, data in before.items() if folder.objects.get(name) != data}
        assert lost <= {name for name in before if name.endswith("/index.json")}


def test_a_push_killed_at_any_request_shows_whole_builds_alone(s3, built, forks):
    """Before a request reaches the server, and after it did but before its answer is heard."""
    push = ("cache", "push", "twice")
    assert forks.run(*push, **PATIENT, **built)[0] == 0
    requests = len(s3.proxy.requests)
    assert requests >= 4
    for number in range(requests):
        for when in ("before", "after"):
            s3.hold({})
            assert killed_at_request(s3, forks, number, when, push, **built) == KILLED
            _assert_shown_whole(s3)
    assert forks.run(*push, **built)[0] == 0
    assert_whole(s3)


def test_a_pull_killed_at_any_request_leaves_the_cache_whole(filled, forks, project, compiles):
    pull = ("build", "twice")
    assert forks.run(*pull, **PATIENT)[0] == 0
    requests = len(filled.proxy.requests)
    for number in range(requests):
        for when in ("before", "after"):
            _forget_builds(project)
            assert killed_at_request(filled, forks, number, when, pull) == KILLED
            _assert_cache_whole(project)
    assert forks.run(*pull)[0] == 0
    assert [entry.manifest.origin["url"] for entry in project.entries] == [filled.url]
    assert project.staging == []
    assert compiles() == 0


def test_a_pull_killed_at_any_step_leaves_the_cache_whole(folder, sent, forks, project, compiles):
    folder.hold(sent)
    pull = ("build", "twice")
    code, steps = forks.run(*pull)
    assert code == 0
    for point in spread(steps):
        _forget_builds(project)
        code, _ = forks.run(*pull, die_at=point)
        _assert_cache_whole(project)
        if point % 4 == 0:
            assert forks.run(*pull)[0] == 0
            assert project.staging == []
            assert len(project.entries) == 1
    assert compiles() == 0


def _assert_shown_whole(remote) -> None:
    if any(DOCUMENT.fullmatch(name) for name in remote.names):
        assert_whole(remote)


def _assert_cache_whole(project) -> None:
    for entry in project.entries:
        entry.verify(everything=True)


def _forget_builds(project) -> None:
    import shutil

    for path in project.folder.iterdir():
        if path.name != STAGING and path.is_dir():
            shutil.rmtree(path)
