"""Use of GPUs by a command: alone where it measures, together with others where it tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from fictl.cli import console
from fictl.cli.numbers import DAY, number

if TYPE_CHECKING:
    from fictl.gpu_lock.visible import LockedGpu

Wait = Annotated[
    float | None,
    number(
        "--wait",
        low=0,
        high=DAY,
        help="Seconds to wait for a GPU that others use, 0 to give up at once; default: no limit.",
        show_default=False,
    ),
]


@contextmanager
def alone(wait: float | None, device: str = "") -> Iterator[None]:
    """Hold the GPU that kernels run on, on device cuda, against every other run."""
    with _held(_gpus(device, 1), wait, shared=False):
        yield


@contextmanager
def together(wait: float | None, device: str = "", count: int = 1) -> Iterator[None]:
    """Hold the first GPUs, this many, against runs that need one for themselves."""
    with _held(_gpus(device, count), wait, shared=True):
        yield


def _gpus(device: str, count: int) -> Sequence[LockedGpu]:
    """Return the first visible GPUs, if kernels run on GPUs."""
    from fictl import settings

    if (device or settings.DEVICE.get()) != "cuda":
        return ()
    from fictl.gpu_lock.visible import visible

    return visible()[:count]


@contextmanager
def _held(gpus: Sequence[LockedGpu], wait: float | None, *, shared: bool) -> Iterator[None]:
    if not gpus:
        yield
        return
    from fictl.gpu_lock.hold import held

    with held(gpus, shared=shared, wait=wait, note=console.note):
        yield
