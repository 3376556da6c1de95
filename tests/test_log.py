"""The library's one logger."""

from __future__ import annotations

import logging

import pytest

from fictl.log import logger, warn_once


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """The fictl logger as it is before its first use."""
    monkeypatch.setattr(logging.getLogger("fictl"), "handlers", [])
    monkeypatch.setattr(logging.getLogger("fictl"), "propagate", True)
    warn_once.cache_clear()


@pytest.fixture
def unconfigure(monkeypatch):
    """Makes a program that has configured no logging; pytest adds its handlers before each test."""
    return lambda: monkeypatch.setattr(logging.getLogger(), "handlers", [])


def test_a_program_without_logging_sees_lines_on_stderr(unconfigure, capsys):
    unconfigure()
    logger().info("built in %.1f s", 1.0)
    assert capsys.readouterr().err == "fictl: built in 1.0 s\n"


def test_the_handler_is_added_once(unconfigure):
    unconfigure()
    logger()
    logger()
    assert len(logging.getLogger("fictl").handlers) == 1


def test_a_program_with_logging_gets_the_records_itself(caplog):
    logger().info("built")
    assert not logging.getLogger("fictl").handlers
    assert caplog.messages == ["built"]


@pytest.mark.parametrize(
    ("level", "expected"),
    [(None, ["b", "c"]), ("debug", ["a", "b", "c"]), ("WARNING", ["c"]), ("error", [])],
)
def test_the_setting_decides_what_is_said(caplog, monkeypatch, level, expected):
    if level:
        monkeypatch.setenv("FICTL_LOGGING_LEVEL", level)
    logger().debug("a")
    logger().info("b")
    logger().warning("c")
    assert caplog.messages == expected


def test_a_warning_is_said_once(caplog):
    for _ in range(3):
        warn_once("store 100% broken")
    assert caplog.messages == ["store 100% broken"]


def test_importing_adds_no_handler(monkeypatch):
    import importlib

    import fictl.log

    importlib.reload(fictl.log)
    assert not logging.getLogger("fictl").handlers
