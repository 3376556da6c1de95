"""The energy counter of a GPU's board, by NVML."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from fictl.errors import SetupError

Counter: TypeAlias = Callable[[], float]


def energy_counter(uuid: str) -> Counter:
    """Return a function that reads the joules used by the GPU `uuid` since its driver was loaded.

    The counter is the whole board's: GPU, memory and voltage regulators. It moves in steps of 20 to
    100 ms, and a partition of a GPU (MIG) has none.
    """
    nvml = _nvml()
    try:
        nvml.nvmlInit()
        device = nvml.nvmlDeviceGetHandleByUUID(uuid)
        nvml.nvmlDeviceGetTotalEnergyConsumption(device)
    except nvml.NVMLError as error:
        raise SetupError(
            f"the energy of {uuid} cannot be read: {error}",
            "NVML counts energy since Volta, for whole GPUs; leave --power out",
        ) from None
    return lambda: float(nvml.nvmlDeviceGetTotalEnergyConsumption(device)) / 1e3


def _nvml() -> Any:
    try:
        return import_module("pynvml")
    except ImportError as error:
        raise SetupError(
            f"NVML cannot be used: {error}", 'pip install "fictl[power]", or leave --power out'
        ) from None
