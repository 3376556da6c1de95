"""A GPU is one run's at a time."""

from __future__ import annotations

import fcntl
import threading
import time
from pathlib import Path

from fictl.case.gpu_lock import held


def test_a_gpu_that_others_use_is_waited_for(tmp_path: Path) -> None:
    lock, entered = tmp_path / "gpu.lock", list[float]()

    def enter() -> None:
        with held(lock):
            entered.append(time.monotonic())

    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waiting = threading.Thread(target=enter)
        waiting.start()
        time.sleep(0.3)
        assert not entered
    waiting.join(5)
    assert len(entered) == 1
    assert lock.exists()
