"""Clocks of the GPU that works, by NVML: a read takes microseconds, one of nvidia-smi a tenth of a second."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from fictl.errors import SetupError
from fictl.timing.gpu_state import gpu_state, uuid_of
from fictl.toolchain.smi import throttles

_LIBRARY = "libnvidia-ml.so.1"
# NVML_CLOCK_SM of nvml.h.
_SM = 1


@dataclass(frozen=True)
class GpuClocks:
    """`throttled` has the reasons why they are reduced. A value is None if it is not reported."""

    sm_mhz: int | None
    max_sm_mhz: int | None
    throttled: tuple[str, ...] = ()


def gpu_clocks() -> GpuClocks | None:
    """Read the clocks of this process's GPU; None if neither NVML nor nvidia-smi reports them."""
    nvml = _nvml()
    read = None
    if nvml is not None:
        with suppress(SetupError):  # torch does not tell which GPU it is.
            read = _read(nvml, uuid_of("cuda"))
    if read is not None:
        return read
    state = gpu_state()
    return GpuClocks(state.sm_mhz, state.max_sm_mhz, state.throttled) if state else None


def _read(nvml: Any, uuid: str) -> GpuClocks | None:
    """Read by NVML; None where it refuses, as for a partition of a GPU."""
    device, now, most = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint()
    mask = ctypes.c_ulonglong()
    steps: tuple[Callable[[], int], ...] = (
        lambda: nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(device)),
        lambda: nvml.nvmlDeviceGetClockInfo(device, _SM, ctypes.byref(now)),
        lambda: nvml.nvmlDeviceGetMaxClockInfo(device, _SM, ctypes.byref(most)),
        lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device, ctypes.byref(mask)),
    )
    try:
        if any(step() for step in steps):  # Each of them returns 0, or the number of an error.
            return None
    except AttributeError:  # A library without such a function.
        return None
    return GpuClocks(now.value, most.value, throttles(mask.value))


@cache
def _nvml() -> Any:
    try:
        nvml = ctypes.CDLL(_LIBRARY)
        return None if nvml.nvmlInit_v2() else nvml
    except (OSError, AttributeError):
        return None
