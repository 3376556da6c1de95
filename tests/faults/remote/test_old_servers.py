"""Servers that ignore conditions, page their lists, are behind, or cannot list at all."""

from __future__ import annotations

import json

import pytest

from fictl.jit.remote.document import canonical

from ...servers.proxy import proxy_of
from ...servers.static import static_server
from .conftest import empty_cache
from .test_poison import add


def test_each_kind_of_remote_takes_and_gives(remote, fictl_, elsewhere, pulled):
    cache = elsewhere(mode="write")
    answer = fictl_("build", "twice")
    assert answer.code == 0
    assert pulled().manifest.origin["url"] == remote.url
    again = fictl_("cache", "push", "twice", **cache)
    assert again.code == 0


def test_all_pages_of_a_list_are_read(old_s3, old_server, sent, keys, fictl_, pulled):
    """Seven builds that do not fit are listed before the one that does."""
    old_s3.hold(sent)
    document = json.loads(old_s3.read(old_s3.manifest))
    name, signature = old_s3.manifest, old_s3.signature
    for number in range(7):
        add(old_s3, canonical({**document, "archs": ["9.0"], "builder": str(number)}), keys.secret)
    last = name.replace("/" + document["build"], "/" + "f" * len(document["build"]))
    assert last != name
    moved = {**document, "build": "f" * len(document["build"])}
    old_s3.delete(name)
    old_s3.delete(signature)
    add(old_s3, canonical(moved), keys.secret)
    assert fictl_("build", "twice").code == 0
    assert pulled()
    assert old_server.pages >= 4


def test_a_list_that_is_behind_makes_a_miss_and_no_harm(
    old_s3, old_server, sent, elsewhere, fictl_, pulled, tmp_path
):
    old_s3.hold(sent)
    old_server.unlisted = "/builds/"
    cache = elsewhere()
    assert fictl_("cache", "push", "twice", **cache).code == 0
    before = dict(old_server.objects)
    assert fictl_("build", "twice").code == 0
    assert pulled() is None
    assert old_server.objects == before
    old_server.unlisted = ""
    assert fictl_("build", "twice", **empty_cache(tmp_path / "later")).code == 0


@pytest.mark.parametrize("hidden", [r"\.json$", r"\.minisig$"])
def test_a_list_that_shows_half_of_a_build_makes_a_miss(
    old_s3, old_server, sent, fictl_, pulled, hidden
):
    old_s3.hold(sent)
    old_server.unlisted = hidden
    assert fictl_("build", "twice").code == 0
    assert pulled() is None


def test_a_web_server_gives_what_was_pushed_to_its_folder(
    folder, elsewhere, fictl_, pulled, tmp_path
):
    elsewhere(mode="write")
    with static_server(tmp_path / "shared folder") as url, proxy_of(url) as proxy:
        answer = fictl_("build", "twice", FICTL_REMOTE=proxy.url)
        assert answer.code == 0
        assert pulled().manifest.origin["url"] == proxy.url
        assert {request.split()[0] for request in proxy.requests} <= {"GET", "HEAD"}


def test_a_web_server_is_never_written_to(project, keys, fictl_, tmp_path):
    (tmp_path / "web").mkdir()
    with static_server(tmp_path / "web") as url, proxy_of(url) as proxy:
        answer = fictl_("build", "twice", FICTL_REMOTE=proxy.url, FICTL_REMOTE_MODE="write")
        assert answer.code == 0
        assert {request.split()[0] for request in proxy.requests} <= {"GET", "HEAD"}
        refused = fictl_("cache", "push", "twice", "--to", proxy.url)
        assert refused.code in {2, 3}
        assert proxy.url in refused.err
