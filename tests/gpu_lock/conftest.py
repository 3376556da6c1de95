"""A folder of locks that other users may use too."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.gpu_lock.holders import Holder


@pytest.fixture
def locks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder as /run/lock is; below /tmp, where every user may look."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o1777)
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(folder))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def holder(locks: Path) -> Iterator[Callable[..., Holder]]:
    started: list[Holder] = []

    def start(keys: str, *, shared: bool = False, user: int = 0) -> Holder:
        started.append(Holder(keys, shared=shared, user=user))
        return started[-1]

    yield start
    for each in started:
        each.popen.kill()
        with each.popen:
            each.popen.wait()
