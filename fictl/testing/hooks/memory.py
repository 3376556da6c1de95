"""Memory that is used up is a reason for not having run a test, not a failure of it.

`fictl test` has a word of its own for that; pytest alone skips the test, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from fictl.case.device_fault import is_out_of_memory


class UsedUpMemory:
    """A plugin of pytest, for the tests that `is_ours` accepts."""

    def __init__(self, is_ours: Callable[[pytest.Item], bool]) -> None:
        self._is_ours = is_ours

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Fixtures allocate, too."""
        self._skip(item, (yield))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        self._skip(item, (yield))

    def _skip(self, item: pytest.Item, outcome: Any) -> None:
        error = outcome.excinfo[1] if outcome.excinfo else None
        if is_out_of_memory(error) and self._is_ours(item):
            said = str(error).strip().partition("\n")[0] or type(error).__name__
            # Why a new exception: the old one's frames hold the tensors that are in the way.
            skipped = pytest.skip.Exception(f"out of memory: {said}", _use_item_location=True)
            outcome.force_exception(skipped)
