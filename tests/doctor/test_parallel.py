"""Questions asked side by side."""

from __future__ import annotations

import threading
import time

from fictl.doctor.parallel import at_once


def test_answers_come_by_name_and_in_order():
    assert at_once({"b": lambda: 1, "a": lambda: 2}, 10) == {"b": 1, "a": 2}


def test_an_error_is_an_answer_of_its_own():
    def fail() -> int:
        raise KeyError("x")

    answers = at_once({"bad": fail, "good": lambda: 1}, 10)
    assert isinstance(answers["bad"], KeyError)
    assert answers["good"] == 1


def test_what_hangs_is_left_behind():
    forever = threading.Event()
    start = time.monotonic()
    answers = at_once({"hangs": lambda: forever.wait(60), "good": lambda: True}, 0.2)
    forever.set()
    assert time.monotonic() - start < 30
    assert isinstance(answers["hangs"], TimeoutError)
    assert answers["good"] is True
