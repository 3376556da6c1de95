"""Holding GPUs: alone, to measure, or together with others, to test."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from fictl.errors import SetupError
from fictl.gpu_lock.folder import lock_folder
from fictl.gpu_lock.holder import in_words, is_inherited
from fictl.gpu_lock.lock_file import LockFile
from fictl.gpu_lock.visible import LockedGpu

_POLL_SECONDS = 0.2


class GpuBusy(SetupError):
    """Others used a GPU for as long as this process was allowed to wait."""

    code = "gpu-busy"


@contextmanager
def held(
    gpus: Sequence[LockedGpu],
    *,
    shared: bool = False,
    wait: float | None = None,
    note: Callable[[str], object] = lambda text: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Hold the GPUs while the body runs, in the order of their keys, so that no two runs wait for
    each other. A GPU that an ancestor of this process holds is used with it.

    shared: others may hold them, too, but not alone.
    wait: seconds after which GpuBusy is raised; None waits until the GPUs are free.
    note: is told once who is waited for.
    stopped: ends the wait; the body then runs without the lock.
    """
    deadline = None if wait is None else time.monotonic() + wait
    folder = lock_folder() if gpus else None
    with ExitStack() as stack:
        for _, gpu in sorted({gpu.key: gpu for gpu in gpus}.items()):
            assert folder is not None
            lock = LockFile(folder, gpu.key)
            stack.callback(lock.close)
            _take(lock, gpu, shared, deadline, note, stopped)
        yield


def _take(
    lock: LockFile,
    gpu: LockedGpu,
    shared: bool,
    deadline: float | None,
    note: Callable[[str], object],
    stopped: Callable[[], bool],
) -> None:
    is_noted = False
    while not lock.take(shared=shared):
        if is_inherited(lock.handle) or stopped():
            return
        if deadline is not None and time.monotonic() >= deadline:
            raise GpuBusy(
                f"GPU {gpu.name} is used by {in_words(lock.handle)}",
                "without --wait, fictl waits until it is free",
            )
        if not is_noted:
            note(f"GPU {gpu.name} is used by {in_words(lock.handle)}: waiting for it")
            is_noted = True
        time.sleep(_POLL_SECONDS)
