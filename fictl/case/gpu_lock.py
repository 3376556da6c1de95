"""GPU lock, so that only one run at a time uses the GPU; names of the GPUs."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.jit.store.lock import try_lock
from fictl.process import ask

_POLL_SECONDS = 0.2


def gpu_names() -> list[str]:
    """Return the names of the visible GPUs, as in CUDA_VISIBLE_DEVICES."""
    from fictl.toolchain import visible_gpus

    here = len(visible_gpus())
    chosen = settings.CUDA_VISIBLE_DEVICES.get()
    names = chosen.split(",") if chosen else map(str, range(here))
    return [name.strip() for name in names][:here]


def lock_of(gpu: str) -> Path:
    """Return a GPU's lock file, named by user and by UUID, which is the same in every process."""
    answer = ask(["nvidia-smi", "-i", gpu, "--query-gpu=uuid", "--format=csv,noheader"])
    uuid = answer.output.strip().partition("\n")[0]
    if answer.code or not uuid.startswith(("GPU-", "MIG-")):
        raise SetupError(f"nvidia-smi does not know the GPU {gpu}: {uuid}", "fictl doctor")
    return Path(tempfile.gettempdir()) / f"fictl-{os.getuid()}-{uuid}.lock"


@contextmanager
def held(
    lock: Path | None,
    waits: Callable[[], object] = lambda: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Hold the lock while the body runs; without a path, hold nothing.

    waits: called once if another process holds the lock.
    stopped: ends the wait; the body then runs without the lock.

    The file stays, because two processes must not lock two files of one name.
    """
    if lock is None:
        yield
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(lock, flags, 0o600)
    try:
        if not try_lock(descriptor):
            waits()
            while not stopped() and not try_lock(descriptor):
                time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(descriptor)
