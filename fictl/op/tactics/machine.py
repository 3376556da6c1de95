"""Machine: the GPU and driver that tactics were timed on."""

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
    """A GPU's name and its driver's version; '' if unknown."""

    gpu: str
    driver: str

    @property
    def driver_major(self) -> str:
        return self.driver.partition(".")[0]


def machine(index: int = 0) -> Machine:
    """Look up the device of a call; `index` is `get_device()` of its first tensor."""
    if settings.DEVICE.get() == "emu":
        return Machine(_EMULATED, "")
    number = max(index, 0)
    gpus = [gpu for gpu in visible_gpus() if gpu.index == number]
    return Machine(gpus[0].name, _driver(number)) if gpus else Machine("no GPU", "")


def versions() -> dict[str, str]:
    """Return versions that may affect which tactic is fast; recorded for people to read."""
    import torch

    from fictl.version import VERSION

    return {"fictl": VERSION, "torch": str(torch.__version__), "cuda": torch.version.cuda or ""}


@cache
def _driver(index: int) -> str:
    try:
        return _RELEASE.read_text(encoding="utf-8").strip()
    except OSError:  # Some sandboxes hide it; nvidia-smi takes a second, and knows it.
        from fictl.timing.gpu_state import gpu_state

        state = gpu_state(index)
        return state.driver if state else ""
