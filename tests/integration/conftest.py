"""Hooks and runtimes of a test end with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fictl import integration
from fictl.apply import ApplyRuntime
from fictl.integration import adapters
from fictl.tracing import TracingRuntime


@pytest.fixture(autouse=True)
def _hooked() -> Iterator[None]:
    integration.install()
    yield
    integration.uninstall()
    ApplyRuntime._stack.clear()
    TracingRuntime._stack.clear()
    adapters._adapters.clear()
