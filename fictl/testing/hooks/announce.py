"""Saying which test runs, for who reads what a tool prints beside it: compute-sanitizer does.

A plugin of pytest by itself: -p fictl.testing.hooks.announce.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fictl.case.device_fault import device_fault
from fictl.report.test_markers import NAMED, STARTED
from fictl.testing.hooks.record import name


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that only build are left out: they launch no kernel."""
    builds = [item for item in items if "fictl_spec" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=builds)
    items[:] = [item for item in items if item not in builds]
    for item in items:
        item.runtest = named(item.runtest, NAMED + name(item))  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    out = item.config.get_terminal_writer()
    out.write(f"\n{STARTED}{name(item)}\n", flush=True)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    """What a test has launched is over before the next one begins: what is said of that is its own."""
    device_fault()


def named(run: Callable[[], Any], text: str) -> Callable[[], Any]:
    """The same; whoever prints the calls that led to a place prints `text` among them."""

    def call() -> Any:
        return run()

    call.__code__ = call.__code__.replace(co_name=text)
    return call
