"""The start of many places, and what is left of them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.farm.handles import allow_handles
from fictl.farm.line import Greeting
from fictl.farm.opening import close_all, open_all
from fictl.farm.place import Place

from .fake_worker import fake_worker


def handles() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def soon(is_so: Callable[[], bool]) -> None:
    """Wait for the threads that read what a process printed last."""
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def places(folder: Path, count: int) -> list[Place]:
    program = fake_worker(folder)
    return [Place(f"p{number}", launch=("env",), python=program) for number in range(count)]


def test_places_that_are_closed_leave_no_handle_thread_or_process(tmp_path: Path) -> None:
    before = handles(), threading.active_count()
    opened = open_all(places(tmp_path, 40), lambda place: Greeting("cpu"))
    pids = [one.connection._worker._popen.pid for one in opened if one.connection is not None]
    assert len(pids) == 40
    close_all(opened)
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
    soon(lambda: (handles(), threading.active_count()) == before)


def test_places_that_do_not_start_leave_none_either(tmp_path: Path) -> None:
    before = handles()
    bad = [Place("a", launch=("no-such-program",)), Place("b", launch=("false",))]
    bad += [Place("c", launch=("echo", "hello"))]
    opened = open_all(bad, lambda place: Greeting("cpu"))
    assert all(one.problem is not None for one in opened)
    soon(lambda: handles() == before)


_FEW_FILES = """
import resource, sys
from fictl.farm.line import Greeting
from fictl.farm.opening import close_all, open_all
from fictl.farm.place import Place
resource.setrlimit(resource.RLIMIT_NOFILE, (60, {hard}))
places = [Place(f"p{{n}}", launch=("env",), python=sys.argv[1]) for n in range(30)]
opened = open_all(places, lambda place: Greeting("cpu"))
close_all(opened)
print(sum(one.problem is None for one in opened))
print({{one.why for one in opened if one.problem is not None}})
"""


@pytest.mark.parametrize("can_be_raised", [True, False])
def test_open_files_are_raised_or_the_places_are_left_out(
    tmp_path: Path, can_be_raised: bool
) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1] if can_be_raised else 60
    code = _FEW_FILES.format(hard=hard)
    argv = [sys.executable, "-c", code, fake_worker(tmp_path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    count, why = done.stdout.splitlines()
    if can_be_raised:
        assert (int(count), why) == (30, "set()")
    else:
        assert 0 < int(count) < 30
        assert why == "{'Too many open files (ulimit -n raises the limit)'}"


def test_a_commit_during_a_run_is_no_reason_to_refuse_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fictl.farm.connection.commit", lambda: "f" * 40)
    both = [Place("here"), Place("far", launch=("env",))]
    opened = open_all(both, lambda place: Greeting("cpu"))
    close_all(opened)
    assert opened[0].problem is None
    assert "install the same commit there" in opened[1].why


def test_a_limit_that_is_enough_stays() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    allow_handles(0)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before
