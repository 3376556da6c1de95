"""The interface of every timer: time each call of a rotation once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import ClassVar

from fictl.errors import FictlError, SetupError
from fictl.timing.rotation import Rotation
from fictl.timing.samples import Kernel


class Unusable(SetupError):
    """A timer cannot time this, and why: another one may."""


class TooShort(Unusable):
    """It takes no longer than what this timer adds."""


class LaunchedNothing(FictlError):
    """The timed calls gave the GPU no work."""


class Timer(ABC):
    """A context: what it holds of the GPU or of the process goes at its end."""

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
        """A round: every call once. The seconds of one call, on average."""

    def kernels(self, rotation: Rotation) -> tuple[Kernel, ...]:
        """Kernels that a call launches, where the timer sees them."""
        return ()

    def remark(self) -> str:
        """A remark on the measurement that its reader should know."""
        return ""


def launched_nothing(rotation: Rotation) -> LaunchedNothing:
    return LaunchedNothing(
        f"{rotation.name}: it launched nothing on the GPU",
        "a result that is kept from an earlier call, or work on the CPU, cannot be timed as a kernel",
    )
