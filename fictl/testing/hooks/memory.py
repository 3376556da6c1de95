"""Skips tests that run out of memory, which is not a failure of the test.

`fictl test` has an outcome of its own for that; plain pytest skips the test, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from fictl.case.device_fault import is_out_of_memory


class UsedUpMemory:
    """Pytest plugin, for the tests that `is_ours` accepts."""

    def __init__(self, is_ours: Callable[[pytest.Item], bool]) -> None:
        self._is_ours = is_ours

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Skip also where a fixture runs out of memory."""
        self._skip(item, (yield))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        self._skip(item, (yield))

    def _skip(self, item: pytest.Item, outcome: Any) -> None:
        error = outcome.excinfo[1] if outcome.excinfo else None
        if is_out_of_memory(error) and self._is_ours(item):
            reason = str(error).strip().partition("\n")[0] or type(error).__name__
            # Why a new exception: the old one's frames keep tensors alive.
            skipped = pytest.skip.Exception(f"out of memory: {reason}", _use_item_location=True)
            outcome.force_exception(skipped)
