"""Datasets are written where only their owner can write, and no runtime is left over."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from fictl.tracing import TracingRuntime


@pytest.fixture(autouse=True)
def _no_runtime() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)
    TracingRuntime._stack.clear()
    TracingRuntime._all.clear()
