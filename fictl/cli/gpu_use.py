"""Use of GPUs by a command: alone where it measures, together with others where it tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from fictl.cli import console
from fictl.cli.numbers import DAY, number

if TYPE_CHECKING:
    from fictl.gpu_lock.chosen import ChosenGpus
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
def alone(wait: float | None, device: str = "", ranks: int = 1) -> Iterator[ChosenGpus]:
    """Hold the GPU that kernels run on, on device cuda, against every other run; of several
    ranks, those with the fastest links.
    """
    from fictl.gpu_lock.chosen import ChosenGpus, chosen

    gpus = chosen(ranks) if _is_cuda(device) else ChosenGpus()
    with _held(gpus.gpus, wait, shared=False):
        yield gpus


@contextmanager
def together(
    wait: float | None, device: str = "", count: int = 1, ranks: int = 1
) -> Iterator[ChosenGpus]:
    """Hold the first GPUs, this many, or those of the ranks, against runs that need one for
    themselves.
    """
    from fictl.gpu_lock.chosen import ChosenGpus, chosen
    from fictl.gpu_lock.visible import visible

    gpus = ChosenGpus()
    if _is_cuda(device):
        gpus = chosen(ranks) if ranks > 1 else ChosenGpus(visible()[:count])
    with _held(gpus.gpus, wait, shared=True):
        yield gpus


def _is_cuda(device: str) -> bool:
    from fictl import settings

    return (device or settings.DEVICE.get()) == "cuda"


@contextmanager
def _held(gpus: Sequence[LockedGpu], wait: float | None, *, shared: bool) -> Iterator[None]:
    if not gpus:
        yield
        return
    from fictl.gpu_lock.hold import held

    with held(gpus, shared=shared, wait=wait, note=console.note):
        yield
