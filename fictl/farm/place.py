"""Places: where one process of fictl does one piece of work at a time: a GPU, or a CPU."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from fictl import settings
from fictl.errors import SetupError, UsageError
from fictl.gpu_lock.hold import held
from fictl.gpu_lock.visible import LockedGpu, gpu_names, named
from fictl.judge.hardware import hardware_name


@dataclass(frozen=True)
class Place:
    """A place.

    launch: the command line before the worker's own, as in `ssh gpu1`; empty on this machine.
    python: the Python there; empty for this one's path.
    variables: environment variables of its processes.
    labels: what it is, besides its hardware, for those who choose places.
    gpu: locked by this process during use, if the place is on this machine.
    hardware: as in `environment.hardware`; empty if unknown.
    runs: false for a place that compiles only.
    """

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    gpu: LockedGpu | None = None
    hardware: str = ""
    runs: bool = True
    launch: tuple[str, ...] = ()
    python: str = ""
    labels: tuple[str, ...] = ()
    engine: str = "command"

    @property
    def is_here(self) -> bool:
        """Tell whether its processes see this machine's files."""
        return not self.launch and self.engine == "command"

    def is_a(self, kind: str) -> bool:
        """Tell whether words of its hardware or one of its labels are `kind`, as in H200 or 9.0a."""
        if kind.lower() in (one.lower() for one in self.labels):
            return True
        return bool(_joined(kind)) and f"_{_joined(kind)}_" in f"_{_joined(self.hardware)}_"

    def held(
        self,
        note: Callable[[str], object],
        stopped: Callable[[], bool],
        wait: float | None = None,
    ) -> AbstractContextManager[None]:
        """Lock the GPU against all other runs on this machine; note whom it waits for."""
        gpus = () if self.gpu is None else (self.gpu,)
        return held(gpus, wait=wait, note=note, stopped=stopped)


def _joined(name: str) -> str:
    """Write NVIDIA_A100-SXM4-80GB as the words that people choose from."""
    return re.sub(r"[\s_-]+", "_", name.lower()).strip("_")


def places_here(device: str, gpus: Sequence[str] = ()) -> tuple[Place, ...]:
    """One place for each GPU of this machine: the named ones, or all that this process may use."""
    if device.partition(":")[0] != "cuda":
        if gpus:
            raise UsageError(f"--gpus names GPUs, and the device is {device}", "leave one out")
        return (Place(device, hardware=hardware_name(device)),)
    names = gpu_names()
    if not names:
        raise SetupError(
            "there is no GPU here",
            "--device emu runs what the emulated device can, --device cpu what needs no GPU",
        )
    unknown = [name for name in gpus if name not in names]
    if unknown:
        raise UsageError(f"there is no GPU {', '.join(unknown)}", f"there are {', '.join(names)}")
    by_name = dict(zip(names, hardware_of(device), strict=True))
    return tuple(_of_gpu(name, by_name[name]) for name in gpus or names)


def hardware_of(device: str, gpus: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the hardware that this process sees, or of the named GPUs only."""
    kind = device.partition(":")[0]
    if kind != "cuda":
        return (hardware_name(kind),)
    from fictl.toolchain import visible_gpus

    named = zip(gpu_names(), visible_gpus(), strict=False)
    return tuple(hardware_name(kind, gpu.name) for name, gpu in named if not gpus or name in gpus)


def _of_gpu(name: str, hardware: str) -> Place:
    visible = {settings.CUDA_VISIBLE_DEVICES.name: name}
    return Place(name, visible, named(name), hardware)
