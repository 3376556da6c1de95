"""Which device tests run on, and where it comes from that there is none."""

from __future__ import annotations

from fictl import settings
from fictl.arch import Arch


def choose_device(asked: str = "") -> str:
    """What was asked for, what FICTL_DEVICE says, else the emulated device where there is no GPU."""
    if asked:
        return asked
    if settings.DEVICE.origin().kind != "default" or _has_gpu():
        return settings.DEVICE.get()
    from fictl.emu.toolchain import current_toolchain

    return "emu" if current_toolchain() else "cuda"


def available_archs() -> list[Arch]:
    """Of the device that tests run on; none where it is a GPU and there is none."""
    if settings.DEVICE.get() == "emu":
        from fictl.emu.device import ARCH

        return [ARCH]
    from fictl.toolchain import visible_gpus

    return [gpu.arch for gpu in visible_gpus()]


def _has_gpu() -> bool:
    from fictl.toolchain import visible_gpus

    return bool(visible_gpus())
