"""Skipping tests that capture CUDA graphs, where torch's caching allocator is off.

A capture that fails spoils the tests behind it, too: torch's random numbers stay in it. A plugin of
pytest by itself: -p fictl.testing.hooks.no_capture.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import pytest

REASON = "CUDA graphs are captured with torch's caching allocator, which is off here"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems() -> None:
    """Where a test file has imported torch; one that imports it later captures nothing of ours."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.cuda.graph.__enter__ = _refuse
        torch.cuda.CUDAGraph.capture_begin = _refuse


def _refuse(*arguments: Any, **named: Any) -> NoReturn:
    pytest.skip(REASON)
