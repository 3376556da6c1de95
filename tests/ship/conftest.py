from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.jit import load


@pytest.fixture(autouse=True)
def _nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "_loaded", {})
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "8.0")


@pytest.fixture
def listing_of() -> Callable[[Path], dict[str, int]]:
    """Files with their inode: equal listings mean that none was written anew."""
    return lambda top: {str(path): path.stat().st_ino for path in top.rglob("*") if path.is_file()}
