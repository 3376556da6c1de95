"""Names of the hardware that results are measured on, as in `environment.hardware`."""

from __future__ import annotations

import platform

UNKNOWN = "unknown"


def hardware_name(device: str, gpu: str = "") -> str:
    """Return the name of a device: of the GPU that the driver calls `gpu`, or of this machine."""
    if device == "cuda":
        return gpu.replace(" ", "_")
    machine = platform.machine() or UNKNOWN
    return f"emulated_on_{machine}" if device == "emu" else f"CPU_{machine}"
