"""Interface of every timer: time each call of a rotation once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import ClassVar

from fictl.errors import FictlError, SetupError
from fictl.timing.rotation import Rotation
from fictl.timing.samples import Kernel


class Unusable(SetupError):
    """This timer cannot time the calls; another one may. The message says why."""


class TooShort(Unusable):
    """The calls take no longer than the overhead of this timer."""


class LaunchedNothing(FictlError):
    """The timed calls launched no work on the GPU."""


class Timer(ABC):
    """Context manager that releases its GPU and process resources at its end."""

    name: ClassVar[str]

    def __enter__(self) -> Timer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        return None

    @abstractmethod
    def time(self, rotation: Rotation) -> float:
        """Run one round, every call once, and return the mean seconds of a call."""

    def kernels(self, rotation: Rotation) -> tuple[Kernel, ...]:
        """Return the kernels that a call launches, if the timer sees them."""
        return ()

    def remark(self) -> str:
        """Return a remark on the measurement for its reader."""
        return ""


def launched_nothing(rotation: Rotation) -> LaunchedNothing:
    return LaunchedNothing(
        f"{rotation.name}: it launched nothing on the GPU",
        "a result that is kept from an earlier call, or work on the CPU, cannot be timed as a kernel",
    )
