"""What a build says while it runs."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.jit.progress import LogObserver, Started, start_line

STARTED = Started(
    module="local/answer",
    archs="8.0 9.0a",
    origin="flag",
    units=3,
    cached=0,
    jobs=2,
    eta=0.0,
    log=Path("/c/build.log"),
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "building local/answer for 8.0 9.0a: 3 units; log /c/build.log"),
        ({"units": 1}, "building local/answer for 8.0 9.0a: 1 unit; log /c/build.log"),
        (
            {"cached": 2, "eta": 12.4},
            "building local/answer for 8.0 9.0a: 3 units (2 cached), about 12 s; log /c/build.log",
        ),
    ],
)
def test_the_first_line_says_what_how_much_and_where(change, expected):
    assert start_line(replace(STARTED, **change)) == expected


def _run(observer):
    observer.started(STARTED)
    observer.advanced(1, 3, "a.cpp")
    observer.command("[1] g++ 100% -c a.cpp")
    observer.note("careful: 50%")
    observer.finished("answer", 1.26)


def test_a_build_is_one_line_at_its_start_and_one_at_its_end(caplog):
    _run(LogObserver())
    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert lines == [
        ("INFO", start_line(STARTED)),
        ("WARNING", "careful: 50%"),
        ("INFO", "built answer in 1.3 s"),
    ]


def test_verbose_says_every_line(caplog):
    _run(LogObserver(verbose=True))
    assert "g++ 100% -c a.cpp" in caplog.text


def test_the_verbose_setting_says_every_line(caplog, monkeypatch):
    monkeypatch.setenv("FICTL_JIT_VERBOSE", "1")
    _run(LogObserver())
    assert "g++ 100% -c a.cpp" in caplog.text


def test_steps_are_for_those_who_debug(caplog, monkeypatch):
    monkeypatch.setenv("FICTL_LOGGING_LEVEL", "debug")
    _run(LogObserver())
    assert ("fictl", logging.DEBUG, "1/3 a.cpp") in caplog.record_tuples
