"""Pytest plugin that prints which test runs, so that a tool's output can be tied to it.

Used under compute-sanitizer: -p fictl.testing.hooks.announce.
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
    """Leave out tests that only build: they launch no kernel."""
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
    """Wait for the test's kernels, so that their reports come before the next test begins."""
    device_fault()


def named(run: Callable[[], Any], text: str) -> Callable[[], Any]:
    """Wrap a function so that tracebacks, also those of tools, name it `text`."""

    def call() -> Any:
        return run()

    call.__code__ = call.__code__.replace(co_name=text)
    return call
