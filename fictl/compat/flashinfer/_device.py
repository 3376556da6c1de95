"""Properties of a device, from torch and the driver; emulated, the CPU is the device."""

from __future__ import annotations

from typing import Any

import torch

from fictl import settings
from fictl.errors import InvalidValue
from fictl.testing import get_compute_capability as _capability_here

__all__ = [
    "device_support_pdl",
    "get_compute_capability",
    "get_device_index",
    "get_device_name",
    "get_device_properties",
    "get_device_sm_count",
    "get_shared_bytes_per_block_optin",
    "is_sm12x_supported",
]


def get_device_properties(device: torch.device) -> Any:
    return torch.cuda.get_device_properties(_gpu(device))


def get_compute_capability(device: torch.device) -> tuple[int, int]:
    """Return (major, minor) of a CUDA device, or of the emulated one."""
    emulated = settings.DEVICE.get() == "emu" and torch.device(device).type == "cpu"
    return _capability_here(device if emulated else _gpu(device))


def get_device_sm_count(device: torch.device) -> int:
    return int(get_device_properties(device).multi_processor_count)


def get_device_name(device: torch.device) -> str:
    return str(get_device_properties(device).name)


def get_device_index(device: torch.device) -> int:
    """Index of a device; for "cuda" without a number, the current one."""
    index: int | None = _gpu(device).index
    return torch.cuda.current_device() if index is None else index


def get_shared_bytes_per_block_optin(device: torch.device) -> int:
    return int(get_device_properties(device).shared_memory_per_block_optin)


def device_support_pdl(device: torch.device) -> bool:
    """Tell whether programmatic dependent launch is supported: from 9.0 on."""
    return torch.device(device).type == "cuda" and get_compute_capability(device) >= (9, 0)


def is_sm12x_supported(device: torch.device) -> bool:
    """Tell whether the GPU has major version 12 and the toolkit compiles for it."""
    from fictl.testing import is_sm120a_supported, is_sm121a_supported

    return is_sm120a_supported(device) or is_sm121a_supported(device)


def _gpu(device: torch.device) -> torch.device:
    parsed = torch.device(device)
    if parsed.type != "cuda":
        raise InvalidValue(f"{parsed} is not a CUDA device", "as in torch.device('cuda:0')")
    return parsed
