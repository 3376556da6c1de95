"""When threads ran and waited, as the kernel says."""

from __future__ import annotations

import os
import threading
import time

from fictl.judge.process.scheduled import Scheduled, waited, waited_here


def test_a_process_that_works_has_run() -> None:
    before = Scheduled.now()
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    time.sleep(0.01)  # It is booked when it is another's turn.
    assert Scheduled.now().ran - before.ran > 0.05


def test_waiting_is_told_of_a_process_that_there_is() -> None:
    assert waited(os.getpid()) >= 0
    assert waited_here() >= 0
    assert waited(1 << 30) == 0
    assert Scheduled.now(1 << 30) == Scheduled(0.0, 0.0, {})


def test_who_sleeps_had_its_chance() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    before = Scheduled.now()
    # On a busy machine, the new thread waits for its turn before it sleeps.
    deadline = time.monotonic() + 20
    while not Scheduled.now().had_its_chance(before):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    done.set()
    thread.join()


def test_who_stood_in_line_had_none() -> None:
    before = Scheduled(0.0, 0.0, {"7": 1.0})
    assert not Scheduled(0.0, 0.0, {"7": 1.0}).had_its_chance(before)
    assert Scheduled(0.0, 0.0, {"7": 1.1}).had_its_chance(before)
    assert Scheduled(0.0, 0.0, {}).had_its_chance(before)
