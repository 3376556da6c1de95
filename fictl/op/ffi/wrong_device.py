"""Error for a tensor on a device that the ops of this process do not run on."""

from __future__ import annotations

from typing import Any

from fictl import settings
from fictl.errors import InvalidValue

# DLPack's device types, and their names.
DLPACK = {"cuda": 2, "emu": 1}
_WAY_OUT = {
    "cuda": "pass {}.cuda(), or set FICTL_DEVICE=emu to run it on the emulated device",
    "emu": "pass {}.cpu(), or unset FICTL_DEVICE to run it on a GPU",
}
_TAKES = {"cuda": "CUDA tensors", "emu": "CPU tensors, for the emulated device"}


class WrongDevice(InvalidValue):
    """Error that names op, argument, its device, the accepted device, and both solutions."""

    code = "wrong-device"

    def __init__(self, op: str, argument: str, place: Any) -> None:
        device = settings.DEVICE.get()
        self.argument, self.wanted = argument, device
        super().__init__(
            f"{op}: argument '{argument}' is on {place}, but this build takes {_TAKES[device]}",
            _WAY_OUT[device].format(argument),
        )


def device_type(value: Any) -> int | None:
    """Return DLPack's device type of a tensor, -1 if it has none; None for other values."""
    ask = getattr(value, "__dlpack_device__", None)
    if ask is None:
        return None
    try:
        return int(ask()[0])
    except (ValueError, RuntimeError, BufferError):
        return -1
