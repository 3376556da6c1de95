"""Memory of a machine about a remote: for a minute, in files that all its processes see."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fictl.jit.remote import breaker
from fictl.jit.remote.breaker import SECONDS, Breaker
from fictl.jit.remote.bucket import RemoteFailed

URL = "s3://bucket/prefix"


def another_process(monkeypatch: pytest.MonkeyPatch) -> Breaker:
    monkeypatch.setattr(breaker, "_down", {})
    return Breaker.of(URL)


def everything_ages(root: Path, seconds: float) -> None:
    for path in (root / "v1" / breaker.FOLDER).iterdir():
        os.utime(path, (time.time() - seconds,) * 2)


def test_all_processes_know_that_it_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Breaker.of(URL)
    assert first.reason() == ""
    first.trip(RemoteFailed(URL, "nothing listens there"))
    second = another_process(monkeypatch)
    assert second.reason() == "nothing listens there"
    assert Breaker.of("s3://another").reason() == ""


def test_what_only_this_process_cannot_do_stays_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Breaker.of(URL).trip(RemoteFailed(URL, "forked", here_only=True))
    assert Breaker.of(URL).reason() == "forked"
    assert another_process(monkeypatch).reason() == ""


@pytest.mark.parametrize("seconds", [SECONDS + 1, -3600])
def test_after_a_minute_or_with_a_clock_set_back_it_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    first = Breaker.of(URL)
    first.trip(RemoteFailed(URL, "x"))
    first.note_absent("a/b")
    everything_ages(first.root, seconds)
    second = another_process(monkeypatch)
    assert (second.reason(), second.lacks("a/b")) == ("", False)


def test_what_it_lacks_is_known_by_url_and_recipe() -> None:
    one = Breaker.of(URL)
    one.note_absent("a/b")
    assert one.lacks("a/b")
    assert not one.lacks("a/c")
    assert not Breaker.of("s3://another").lacks("a/b")


def test_a_command_that_names_it_asks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Breaker.of(URL).trip(RemoteFailed(URL, "x"))
    Breaker.of(URL).forget()
    assert another_process(monkeypatch).reason() == ""


def test_a_cache_that_cannot_be_written_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Breaker(Path("/proc/nowhere"), URL)
    one.trip(RemoteFailed(URL, "x"))
    one.note_absent("a")
    assert one.reason() == "x"
    assert not one.lacks("a")


def test_old_memories_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker, "_MANY", 3)
    one = Breaker.of(URL)
    for number in range(4):
        one.note_absent(str(number))
    everything_ages(one.root, SECONDS + 1)
    one.note_absent("new")
    assert len(list((one.root / "v1" / breaker.FOLDER).iterdir())) == 1
