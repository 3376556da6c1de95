"""Many readers, many writers, a sweep beside a reader: one download, nothing lost, nothing half there."""

from __future__ import annotations

import json
import re

import pytest

from fictl.jit.remote.document import canonical, read_document

from ...servers.proxy import around, hang
from .conftest import DOCUMENT

_PROCESSES = 16  # `make perf` has 64.
_WRITERS = 8

# Why forked: what is meant are processes that have used a remote, as data loaders have.
_PULL_FORK_PULL = """import os, sys
sys.modules.update(dict.fromkeys(["torch", "numpy", "ml_dtypes", "cuda"]))
from fictl.project import mount
mount()
import tiny
assert tiny.ops.twice(21) == 42
sys.stdout.flush()
if not (child := os.fork()):
    os.environ["FICTL_WORKSPACE_BASE"] += "-of-the-child"
    from fictl.project import find
    from fictl.op import folder_specs
    folder_specs(find("twice")[0])[0].build()
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_those_who_ask_at_once_make_one_download(filled, at_once, pulled):
    filled.proxy.latency = 0.3
    codes, answers = at_once(_PROCESSES)
    assert (set(codes), set(answers)) == ({0}, {"42\n"})
    assert filled.proxy.count("^GET .*blobs/") == 1
    assert filled.proxy.count("^GET ") <= 4
    assert pulled()


def test_of_those_who_ask_a_dead_remote_at_once_one_waits_for_it(filled, at_once, pulled):
    filled.proxy.fail(hang)
    codes, answers = at_once(_PROCESSES, FICTL_REMOTE_TIMEOUT="1")
    assert (set(codes), set(answers)) == ({0}, {"42\n"})
    assert len(filled.proxy.requests) == 1
    assert pulled() is None


@pytest.mark.parametrize("server", ["s3", "old_s3"])
def test_writers_of_one_build_end_with_one_and_all_succeed(
    request, server, elsewhere, start, pulled, fictl_
):
    remote = request.getfixturevalue(server)
    remote.proxy.latency = 0.1
    caches = [elsewhere("one"), elsewhere("two")] * (_WRITERS // 2)
    writers = [start("-m", "fictl", "cache", "push", "twice", **cache) for cache in caches]
    answers = [writer.communicate(timeout=120) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * _WRITERS, answers
    assert_whole(remote)
    remote.proxy.latency = 0
    assert fictl_("build", "twice").code == 0
    assert pulled()


def test_two_builds_of_one_key_with_other_bytes_both_stay_and_are_reported(filled, fictl_, keys):
    document = json.loads(filled.read(filled.manifest))
    blob = document["files"]["module.so"]["sha256"]
    changed = json.loads(canonical(document).replace(blob.encode(), b"0" * 64))
    from .test_poison import add

    module = b"other bytes of the same length".ljust(document["files"]["module.so"]["size"], b"\0")
    from hashlib import sha256

    digest = sha256(module).hexdigest()
    changed["files"]["module.so"]["sha256"] = digest
    filled.write(f"blobs/sha256/{digest[:2]}/{digest}", module)
    add(filled, canonical(changed), keys.secret)
    answer = fictl_("cache", "verify", "--remote")
    assert re.search("reproduc", answer.said), answer.said
    assert len([name for name in filled.names if DOCUMENT.fullmatch(name)]) == 2
    assert fictl_("build", "twice").code == 0


def test_a_sweep_that_takes_the_blob_under_a_reader_makes_a_miss(filled, fictl_, pulled, project):
    blob = filled.blob
    filled.proxy.fail(around(before=lambda: filled.delete(blob)), "GET .*blobs/", times=1)
    answer = fictl_("build", "twice")
    assert answer.code == 0
    assert blob in answer.err
    assert pulled() is None
    assert project.staging == []


def test_a_sweep_spares_what_a_writer_has_sent_but_not_yet_named(s3, elsewhere, fictl_, pulled):
    """The blob is there, its manifest not yet: gc comes in between."""
    cache = elsewhere()
    swept = []

    def sweep() -> None:
        swept.append(fictl_("cache", "gc", "--remote", "--older-than", "0d"))

    s3.proxy.fail(around(before=sweep), r"^PUT .*[0-9a-f]\.json", times=1)
    answer = fictl_("cache", "push", "twice", **cache)
    assert answer.code == 0, answer.err
    assert [one.code for one in swept] == [0], swept
    assert_whole(s3)
    assert fictl_("build", "twice").code == 0
    assert pulled()


def test_a_fork_of_a_process_that_used_a_remote_builds_for_itself(filled, start, compiles):
    """The client's threads are not there: a request of it would wait for ever."""
    child = start("-c", _PULL_FORK_PULL)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert err.count("this process was forked from") == 1
    assert "spawn" in err
    assert compiles() == 1


def assert_whole(remote) -> None:
    """Every document is named by its hash and signed, and its blobs are whole."""
    objects = remote.objects
    documents = [name for name in objects if DOCUMENT.fullmatch(name)]
    assert documents
    for name in documents:
        document = read_document(objects[name])
        assert document.name == name
        assert [other for other in objects if other.startswith(name) and other != name]
        for file, blob in document.blobs.items():
            assert len(objects[blob]) == document.manifest.files[file].size
