"""The GPU that kernels ran on: its limits, which decide how many blocks it holds."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache

from fictl.toolchain import visible_gpus
from fictl.toolchain.occupancy import SmLimits

# CUdevice_attribute
_SMS = 16
_LIMITS = {"threads": 39, "blocks": 106, "registers": 82, "shared": 81, "reserved_shared": 111}


@dataclass(frozen=True)
class Device:
    """A GPU with `sms` multiprocessors; `limits` are those of each."""

    name: str
    sms: int
    limits: SmLimits


@cache
def device(index: int) -> Device | None:
    """The device with this CUDA number; None if the driver does not list it."""
    gpus = {gpu.index: gpu for gpu in visible_gpus()}
    if index not in gpus:
        return None
    limits = {name: _attribute(number, index) for name, number in _LIMITS.items()}
    return Device(gpus[index].name, _attribute(_SMS, index), SmLimits(**limits))


def _attribute(number: int, index: int) -> int:
    driver, value, handle = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_int()
    driver.cuDeviceGet(ctypes.byref(handle), index)
    driver.cuDeviceGetAttribute(ctypes.byref(value), number, handle)
    return value.value
