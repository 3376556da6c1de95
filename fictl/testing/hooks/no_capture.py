"""Pytest plugin that skips tests that capture CUDA graphs: -p fictl.testing.hooks.no_capture.

A capture fails where torch's caching allocator is off, and then breaks later tests, too: torch's
random number generator stays in capture mode.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import pytest

REASON = "CUDA graphs are captured with torch's caching allocator, which is off here"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems() -> None:
    """Patch torch if a test file has imported it; one that imports it later captures nothing."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.cuda.graph.__enter__ = _refuse
        torch.cuda.CUDAGraph.capture_begin = _refuse


def _refuse(*arguments: Any, **named: Any) -> NoReturn:
    pytest.skip(REASON)
