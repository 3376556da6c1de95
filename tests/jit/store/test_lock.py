"""The lock that only saves duplicate work."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import signal
import time
from contextlib import contextmanager

import pytest

from fictl.errors import SetupError
from fictl.jit.store import lock
from fictl.jit.store.lock import build_lock


def _never():
    return False


def _unsaid(text):
    pytest.fail(f"nothing should be said: {text}")


@contextmanager
def _held(path, text=""):
    path.write_text(text)
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _is_locked(path):
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@pytest.fixture
def path(tmp_path):
    return tmp_path / "local.answer.recipe"


def test_a_free_lock_is_taken_and_signed(path):
    with build_lock(path, 5, _never, _unsaid):
        assert _is_locked(path)
        who = json.loads(path.read_text())
    assert (who["pid"], who["host"]) == (os.getpid(), platform.node())
    assert time.time() - who["since"] < 60
    assert not _is_locked(path)


def test_the_lock_file_is_never_unlinked(path):
    with build_lock(path, 5, _never, _unsaid):
        inode = path.stat().st_ino
    with build_lock(path, 5, _never, _unsaid):
        pass
    assert path.stat().st_ino == inode


def test_an_error_inside_frees_the_lock(path):
    with pytest.raises(KeyError), build_lock(path, 5, _never, _unsaid):
        raise KeyError
    assert not _is_locked(path)


def test_waiting_ends_when_another_has_finished_the_work(path):
    answers = iter([False, False, True])
    with _held(path), build_lock(path, 60, lambda: next(answers), _unsaid):
        assert next(answers, None) is None


def test_waiting_is_bounded_and_names_the_holder(path):
    said = []
    holder = json.dumps({"pid": 4711, "host": "far", "since": time.time() - 90})
    start = time.monotonic()
    with _held(path, holder), build_lock(path, 0.2, _never, said.append):
        assert 0.2 <= time.monotonic() - start < 60
        assert path.read_text() == holder
    expected = "pid 4711 on far, which has been building for 90 s; building without the lock"
    assert len(said) == 1
    assert expected in said[0]


def test_a_long_wait_says_whom_it_waits_for(path, monkeypatch):
    monkeypatch.setattr(lock, "_FIRST_WORD_SECONDS", 0.1)
    said = []
    holder = '{"pid": 1, "host": "h", "since": 0}'
    with _held(path, holder), build_lock(path, 0.4, _never, said.append):
        pass
    assert said[0].startswith("waiting for pid 1 on h, which has been building for")
    assert len(said) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_holder_that_did_not_sign_is_no_error(path, text):
    said = []
    with _held(path, text), build_lock(path, 0.1, _never, said.append):
        pass
    assert "another process that builds the same module" in said[0]


def test_a_holder_of_a_clock_that_was_set_back_has_not_built_for_less_than_nothing(path):
    said = []
    holder = json.dumps({"pid": 1, "host": "h", "since": time.time() + 3600})
    with _held(path, holder), build_lock(path, 0.1, _never, said.append):
        pass
    assert "which has been building for 0 s" in said[0]


def test_a_disk_too_full_for_a_signature_is_no_error(path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", refuse)
    with build_lock(path, 5, _never, _unsaid):
        assert _is_locked(path)


def test_a_folder_that_takes_no_lock_file_is_named(path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    words = f"cannot write to the cache at {path.parent}: Read-only file system"
    with pytest.raises(SetupError, match=words), build_lock(path, 5, _never, _unsaid):
        pass


def test_a_killed_holder_holds_nothing(path, python):
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom fictl.jit.store.lock import build_lock\n"
        f"with build_lock(Path({str(path)!r}), 5, lambda: False, print):\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    holder = python(code)
    assert holder.stdout.readline() == "held\n"
    assert _is_locked(path)
    os.killpg(holder.pid, signal.SIGKILL)
    holder.communicate()
    with build_lock(path, 5, _never, _unsaid):
        assert json.loads(path.read_text())["pid"] == os.getpid()


def test_a_network_mount_takes_no_lock(path, monkeypatch):
    monkeypatch.setattr(lock, "on_network", lambda _: True)
    with build_lock(path, 5, _never, _unsaid):
        assert not path.exists()


def test_a_file_system_without_locks_is_gone_on_with(path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with build_lock(path, 5, _never, _unsaid):
        assert path.exists()
