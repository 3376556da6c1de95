"""Builds that are loaded are not cleared away, builds that are cleared away are not loaded."""

from __future__ import annotations

import shutil

import pytest

from fictl.jit.store import use
from fictl.jit.store.entry import MANIFEST
from fictl.jit.store.use import Removed, claimed, hold, in_use, keeping

_HOLD = """
import time
from pathlib import Path
from fictl.jit.store.use import hold
hold(Path({build!r}))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _nothing_held(monkeypatch):
    monkeypatch.setattr(use, "_held", {})


@pytest.fixture
def build(tmp_path, fake_build):
    return fake_build(tmp_path / "recipe" / "build").path


def test_a_build_that_nobody_loaded_is_not_in_use(build):
    assert in_use(build) is False


def test_a_build_is_in_use_while_its_process_lives(build, python):
    with python(_HOLD.format(build=str(build))) as holder:
        assert holder.stdout.readline() == "held\n"
        assert in_use(build) is True
        holder.kill()
        holder.wait()
        assert in_use(build) is False


def test_a_build_is_kept_while_it_is_published(build):
    published = build.with_name("published")
    with keeping(build):
        build.rename(published)
        assert in_use(published) is True
    assert in_use(published) is False


def test_holding_twice_takes_one_lock(build):
    hold(build)
    hold(build)
    assert len(use._held) == 1


def test_a_build_that_is_gone_is_not_held(build):
    shutil.rmtree(build)
    with pytest.raises(Removed):
        hold(build)


def test_a_build_that_was_replaced_while_it_was_opened_is_not_held(build, monkeypatch):
    def replaced(*_):
        manifest = build / MANIFEST
        text = manifest.read_text()
        manifest.unlink()
        (build / "elsewhere").write_text(text)
        (build / "elsewhere").rename(manifest)

    monkeypatch.setattr("fcntl.flock", replaced)
    with pytest.raises(Removed):
        hold(build)
    assert use._held == {}


def test_a_file_system_without_locks_stands_in_nobodys_way(build, monkeypatch):
    def refuse(*_):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    hold(build)
    assert in_use(build) is False


def test_what_has_no_manifest_cannot_be_loaded_and_is_free(tmp_path):
    with claimed(tmp_path) as ours:
        assert ours is True
