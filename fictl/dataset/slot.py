"""Where solutions run: a GPU of its own for each that runs at a time, or the one CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from fictl import settings
from fictl.case.gpu_lock import gpu_names, held, lock_of
from fictl.errors import SetupError, UsageError


@dataclass(frozen=True)
class Slot:
    """`variables` are of the processes that run on it; `lock` is held meanwhile."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    lock: Path | None = None

    def held(
        self, waits: Callable[[str], object], stopped: Callable[[], bool]
    ) -> AbstractContextManager[None]:
        """No other run of fictl on this machine has it then. It is waited for, and that is said."""
        said = f"GPU {self.name} is used by another run of fictl: waiting for it"
        return held(self.lock, lambda: waits(said), stopped)


def slots(device: str, gpus: Sequence[str] = ()) -> tuple[Slot, ...]:
    """One a GPU: those named, else those that this process may use."""
    if device.partition(":")[0] != "cuda":
        if gpus:
            raise UsageError(f"--gpus names GPUs, and the device is {device}", "leave one out")
        return (Slot(device),)
    names = gpu_names()
    if not names:
        raise SetupError(
            "there is no GPU here",
            "--device emu runs what the emulated device can, --device cpu what needs no GPU",
        )
    unknown = [name for name in gpus if name not in names]
    if unknown:
        raise UsageError(f"there is no GPU {', '.join(unknown)}", f"there are {', '.join(names)}")
    return tuple(_of_gpu(name) for name in gpus or names)


def _of_gpu(name: str) -> Slot:
    return Slot(name, {settings.CUDA_VISIBLE_DEVICES.name: name}, lock_of(name))
