"""Where solutions run: a GPU of its own for each that runs at a time, or the one CPU."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError, UsageError
from fictl.jit.store.lock import try_lock
from fictl.process import ask

_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Slot:
    """`variables` are of the processes that run on it; `lock` is held meanwhile."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    lock: Path | None = None

    @contextmanager
    def held(self, waits: Callable[[str], object], stopped: Callable[[], bool]) -> Iterator[None]:
        """No other run of fictl on this machine has it then. It is waited for, and that is said."""
        if self.lock is None:
            yield
            return
        # The file stays: two processes must not lock two files of one name.
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.lock, flags, 0o600)
        try:
            said = False
            while not try_lock(descriptor) and not stopped():
                if not said:
                    waits(f"GPU {self.name} is used by another run of fictl: waiting for it")
                    said = True
                time.sleep(_POLL_SECONDS)
            yield
        finally:
            os.close(descriptor)


def slots(device: str, gpus: Sequence[str] = ()) -> tuple[Slot, ...]:
    """One a GPU: those named, else those that this process may use."""
    if device.partition(":")[0] != "cuda":
        if gpus:
            raise UsageError(f"--gpus names GPUs, and the device is {device}", "leave one out")
        return (Slot(device),)
    from fictl.toolchain import visible_gpus

    here = len(visible_gpus())
    if not here:
        raise SetupError(
            "there is no GPU here",
            "--device emu runs what the emulated device can, --device cpu what needs no GPU",
        )
    chosen = settings.CUDA_VISIBLE_DEVICES.get()
    names = (
        [*map(str.strip, chosen.split(","))] if chosen else [str(index) for index in range(here)]
    )
    unknown = [name for name in gpus if name not in names]
    if unknown:
        raise UsageError(f"there is no GPU {', '.join(unknown)}", f"there are {', '.join(names)}")
    return tuple(_of_gpu(name) for name in gpus or names[:here])


def _of_gpu(name: str) -> Slot:
    return Slot(name, {settings.CUDA_VISIBLE_DEVICES.name: name}, _lock_of(name))


def _lock_of(gpu: str) -> Path:
    """By what the GPU is called on every process's list, as `fictl test -n` does."""
    said = ask(["nvidia-smi", "-i", gpu, "--query-gpu=uuid", "--format=csv,noheader"])
    uuid = said.output.strip().partition("\n")[0]
    if said.code or not uuid.startswith(("GPU-", "MIG-")):
        raise SetupError(f"nvidia-smi does not know the GPU {gpu}: {uuid}", "fictl doctor")
    return Path(tempfile.gettempdir()) / f"fictl-{os.getuid()}-{uuid}.lock"
