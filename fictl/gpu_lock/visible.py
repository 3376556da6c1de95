"""The GPUs that this process may use, as names and as keys of locks."""

from __future__ import annotations

from dataclasses import dataclass

from fictl import settings
from fictl.errors import SetupError


@dataclass(frozen=True)
class LockedGpu:
    """`key` is the UUID of a GPU, or of a part of one (MIG), the same in every process; `name` is
    as in CUDA_VISIBLE_DEVICES.
    """

    key: str
    name: str


def gpu_names() -> list[str]:
    """Return the names of the visible GPUs, as in CUDA_VISIBLE_DEVICES."""
    from fictl.toolchain import visible_gpus

    here = len(visible_gpus())
    chosen = settings.CUDA_VISIBLE_DEVICES.get()
    names = chosen.split(",") if chosen else map(str, range(here))
    return [name.strip() for name in names][:here]


def visible() -> tuple[LockedGpu, ...]:
    """Return the visible GPUs in CUDA's order. The driver, not nvidia-smi, tells which they are:
    the two may count GPUs differently.
    """
    from fictl.toolchain import visible_gpus

    pairs = zip(gpu_names(), visible_gpus(), strict=False)
    return tuple(LockedGpu(gpu.uuid or f"index-{gpu.index}", name) for name, gpu in pairs)


def named(name: str) -> LockedGpu:
    for gpu in visible():
        if gpu.name == name:
            return gpu
    raise SetupError(f"the driver does not show the GPU {name}", "fictl doctor")
