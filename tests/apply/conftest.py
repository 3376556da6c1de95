"""No runtime is left over, and datasets are opened where only their owner can write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fictl.apply import ApplyRuntime


@pytest.fixture(autouse=True)
def _no_runtime() -> Iterator[None]:
    yield
    ApplyRuntime._stack.clear()
