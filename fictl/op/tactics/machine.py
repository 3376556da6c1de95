"""The machine that tactics were timed on, as far as it decides which of them is fast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fictl import settings
from fictl.toolchain import visible_gpus

_RELEASE = Path("/sys/module/nvidia/version")
_EMULATED = "the emulated device"


@dataclass(frozen=True)
class Machine:
    """A GPU by name, and the driver's release; '' where nobody tells it."""

    gpu: str
    driver: str

    @property
    def driver_major(self) -> str:
        return self.driver.partition(".")[0]


def machine(index: int = 0) -> Machine:
    """Of the device that a call runs on: what `get_device()` of its first tensor says."""
    if settings.DEVICE.get() == "emu":
        return Machine(_EMULATED, "")
    number = max(index, 0)
    found = [gpu for gpu in visible_gpus() if gpu.index == number]
    return Machine(found[0].name, _driver(number)) if found else Machine("no GPU", "")


def versions() -> dict[str, str]:
    """Of what else may change how fast a tactic is, or which one: kept, for people to read."""
    import torch

    from fictl.version import VERSION

    return {"fictl": VERSION, "torch": str(torch.__version__), "cuda": torch.version.cuda or ""}


@cache
def _driver(index: int) -> str:
    try:
        return _RELEASE.read_text(encoding="utf-8").strip()
    except OSError:  # Some sandboxes hide it; nvidia-smi takes a second, and knows.
        from fictl.timing.gpu_state import gpu_state

        state = gpu_state(index)
        return state.driver if state else ""
