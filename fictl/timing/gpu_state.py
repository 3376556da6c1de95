"""State of the GPU during a measurement: clocks, power, temperature, other processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fictl.child.family import ancestors
from fictl.errors import SetupError
from fictl.toolchain.smi import Row, Smi, read_smi, throttled


@dataclass(frozen=True)
class GpuState:
    """State of one GPU. A value is None if the GPU does not report it.

    others: processes on the GPU that are not ours.
    """

    name: str
    uuid: str
    driver: str
    sm_mhz: int | None
    max_sm_mhz: int | None
    mem_mhz: int | None
    watts: float | None
    celsius: int | None
    throttled: tuple[str, ...] = ()
    others: tuple[int, ...] = ()


def gpu_state(index: int = 0) -> GpuState | None:
    """Read the state of the GPU that CUDA calls `index`; None if nvidia-smi does not report it."""
    smi = read_smi()
    wanted = _uuid(index) or str(index)
    return (
        state_of(smi, wanted, ours=tuple(process.pid for process in ancestors(os.getpid())))
        if smi
        else None
    )


def state_of(smi: Smi, wanted: str, ours: Iterable[int]) -> GpuState | None:
    """Return the state of the GPU that `wanted` names, by UUID or index."""
    for row in smi.gpus:
        if wanted in (row.get("uuid"), row.get("index")):
            uuid = row.get("uuid", "")
            on_it = (
                process.get("pid", "")
                for process in smi.processes
                if process.get("gpu_uuid") == uuid
            )
            pids = [int(pid) for pid in on_it if pid.isdigit()]
            return GpuState(
                row.get("name", ""),
                uuid,
                row.get("driver_version", ""),
                _whole(row, "clocks.sm"),
                _whole(row, "clocks.max.sm"),
                _whole(row, "clocks.mem"),
                _number(row, "power.draw"),
                _whole(row, "temperature.gpu"),
                throttled(row),
                tuple(_others(pids, tuple(ours))),
            )
    return None


def _number(row: Row, field: str) -> float | None:
    try:
        return float(row[field])
    except (KeyError, ValueError):
        return None


def _whole(row: Row, field: str) -> int | None:
    number = _number(row, field)
    return None if number is None else round(number)


def _others(pids: list[int], ours: tuple[int, ...]) -> list[int]:
    others = [pid for pid in pids if pid not in ours]
    unseen = [pid for pid in others if not os.path.exists(f"/proc/{pid}")]
    if len(others) == len(pids) and unseen:
        # In a container, nvidia-smi shows the host's process ids: one of them is this process.
        others.remove(unseen[0])
    return others


def uuid_of(device: str) -> str:
    """Return the UUID of a torch device, 'cuda' or 'cuda:1', as NVML spells it."""
    import torch

    index = torch.device(device).index
    uuid = _uuid(torch.cuda.current_device() if index is None else index)
    if not uuid:
        raise SetupError(f"the UUID of {device} is unknown", "fictl doctor")
    return uuid


def _uuid(index: int) -> str:
    """Return a GPU's UUID from torch: CUDA numbers only visible GPUs, nvidia-smi numbers all."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return ""
    uuid = getattr(torch.cuda.get_device_properties(index), "uuid", "")
    return f"GPU-{uuid}" if uuid else ""
