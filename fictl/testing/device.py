"""The device that tests run on, and errors if a requested device is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fictl import settings
from fictl.arch import Arch, spell
from fictl.emu.toolchain import require_toolchain
from fictl.errors import SetupError
from fictl.toolchain import require_gpu

if TYPE_CHECKING:
    from fictl.project import OpFolder


def choose_device(asked: str = "") -> str:
    """Choose the requested device, else FICTL_DEVICE's; else the emulated one if no GPU exists."""
    if asked:
        return asked
    if settings.DEVICE.origin().kind != "default" or _has_gpu():
        return settings.DEVICE.get()
    from fictl.emu.toolchain import current_toolchain

    return "emu" if current_toolchain() else "cuda"


def is_asked_for() -> bool:
    """True if a flag, a variable or the settings file requests a device."""
    return settings.DEVICE.origin().kind != "default"


def require_device(device: str, folders: Sequence[OpFolder]) -> None:
    """Raise unless the device is here and each of these ops runs on it.

    If a requested device is missing, the run must not pass on the remaining tests alone.
    """
    where = "the emulated device"
    if device == "emu":
        require_toolchain()
    else:
        where = "the GPU here"
        require_gpu(
            "there is no GPU here, and --device or FICTL_DEVICE asks for one",
            "--device emu runs on the emulated device",
        )
    with_archs = [arch.plain for arch in _archs_of(device)]
    for folder in folders:
        if device not in folder.devices:
            raise SetupError(
                f"{folder} does not run on {where}: its op.py declares "
                f"devices={' '.join(folder.devices)!r}",
                "name the ops that do, or leave --device out",
            )
        if not any(folder.archs.supports(arch) for arch in with_archs):
            raise SetupError(
                f"{folder} is for {folder.archs}, and {where} is {spell(with_archs)}",
                "name the ops that run there, or leave --device out",
            )


def available_archs() -> list[Arch]:
    """Architectures of the device that tests run on; none where there is no GPU."""
    return _archs_of(settings.DEVICE.get())


def _archs_of(device: str) -> list[Arch]:
    if device == "emu":
        from fictl.emu.device import ARCH

        return [ARCH]
    from fictl.toolchain import visible_gpus

    return [gpu.arch for gpu in visible_gpus()]


def _has_gpu() -> bool:
    from fictl.toolchain import visible_gpus

    return bool(visible_gpus())
