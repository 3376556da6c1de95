"""A CUPTI with records as a real one gave them, of a GPU whose work we make up."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from fictl.profile.cupti import device as devices
from fictl.profile.cupti.device import Device
from fictl.profile.cupti.work import ApiCall, Copy, Kernel
from fictl.toolchain.occupancy import SmLimits

RECORDED = Path(__file__).parent / "recorded" / "h200_records.json"
H200 = Device("NVIDIA H200", 132, SmLimits(2048, 32, 65536, 233472, 1024))


class ActivityKind(IntEnum):
    MEMCPY = 1
    MEMSET = 2
    DRIVER = 4
    RUNTIME = 5
    CONCURRENT_KERNEL = 10
    MEMCPY2 = 22
    EXTERNAL_CORRELATION = 39


RuntimeCalls = IntEnum(
    "RuntimeCalls", {"cudaLaunchKernel_v7000": 211, "cudaMemsetAsync_ptsz_v7000": 255}
)


class StandInCupti:
    """Records pile up until they are flushed into the callback; `launch` gives the GPU work."""

    ActivityKind = ActivityKind
    ExternalCorrelationKind = SimpleNamespace(CUSTOM0=3)
    runtime_api_trace_cbid = RuntimeCalls

    def __init__(self) -> None:
        self.known = json.loads(RECORDED.read_text(encoding="utf-8"))["records"]
        self.refuses = ""
        self.dropped = 0
        self.sees_kernels = True
        self.now = 1_795_312_100_000_000_000
        self.correlation = 0
        self.enabled: list[ActivityKind] = []
        self.regions: list[int] = []
        self.records: list[Any] = []

    def launch(
        self, kind: str = "CONCURRENT_KERNEL", microseconds: int = 10, **fields: Any
    ) -> None:
        """It begins with its call, and lasts so long."""
        self.correlation += 1
        if self.regions:
            self.record("EXTERNAL_CORRELATION", 0, {"external_id": self.regions[-1]})
        fill = kind == "MEMSET"
        asked = {**self.known["RUNTIME"], "cbid": 255 if fill else 211}
        self.record("RUNTIME", 3, asked)
        if self.sees_kernels or kind != "CONCURRENT_KERNEL":
            known = {**self.known["MEMCPY"], **self.known.get(kind, {})}
            self.record(kind, microseconds, {**known, **fields})
        self.now += microseconds * 1000

    def record(self, kind: str, microseconds: int, fields: dict[str, Any]) -> None:
        if ActivityKind[kind] in self.enabled:
            times = {"start": self.now, "end": self.now + microseconds * 1000}
            own = {"kind": int(ActivityKind[kind]), "correlation_id": self.correlation}
            self.records.append(SimpleNamespace(**{**fields, **times, **own}))

    def activity_register_callbacks(self, requested: Any, completed: Any) -> None:
        self.completed = completed

    def activity_enable(self, kind: ActivityKind) -> None:
        if self.refuses:
            raise RuntimeError(self.refuses)
        self.enabled.append(kind)

    def activity_disable(self, kind: ActivityKind) -> None:
        self.enabled.remove(kind)

    def activity_flush_all(self, forced: int) -> None:
        records, self.records = self.records, []
        self.completed(records)

    def activity_get_num_dropped_records(self, context: int, stream: int, address: int) -> None:
        ctypes.c_size_t.from_address(address).value = self.dropped

    def activity_push_external_correlation_id(self, kind: int, number: int) -> None:
        self.regions.append(number)

    def activity_pop_external_correlation_id(self, kind: int) -> int:
        return self.regions.pop()

    def finalize(self) -> None:
        pass


@pytest.fixture
def cupti(monkeypatch: pytest.MonkeyPatch) -> StandInCupti:
    """In place of CUPTI and of torch.cuda, which has one idle GPU."""
    stand_in = StandInCupti()
    monkeypatch.setitem(sys.modules, "cupti", ModuleType("cupti"))
    monkeypatch.setitem(sys.modules, "cupti.cupti", stand_in)  # type: ignore[arg-type]
    quiet: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "current_device": lambda: 0,
        "device_count": lambda: 1,
        "memory_reserved": lambda index: 0,
        "synchronize": lambda index=0: None,
    }
    for name, function in quiet.items():
        monkeypatch.setattr(torch.cuda, name, function)
    return stand_in


@pytest.fixture
def h200(monkeypatch: pytest.MonkeyPatch) -> Device:
    """The GPU that is number 0."""
    devices.device.cache_clear()
    monkeypatch.setattr(devices, "visible_gpus", lambda: [SimpleNamespace(index=0, name=H200.name)])
    limits = {39: 2048, 106: 32, 82: 65536, 81: 233472, 111: 1024, 16: 132}
    monkeypatch.setattr(devices, "_attribute", lambda number, index: limits[number])
    found = devices.device(0)
    assert found == H200
    yield found
    devices.device.cache_clear()


@pytest.fixture
def kernel() -> Callable[..., Kernel]:
    """A launch of 256 threads from `start` to `end` (microseconds), but for what a test says."""

    def make(name: str = "k", start: float = 0, end: float = 10, **changes: Any) -> Kernel:
        facts: dict[str, Any] = {
            "call": 0,
            "correlation": 1,
            "device": 0,
            "stream": 7,
            "graph": 0,
            "grid": (1056, 1, 1),
            "block": (256, 1, 1),
            "cluster": (0, 0, 0),
            "registers": 32,
            "static_shared": 0,
            "dynamic_shared": 0,
        }
        times = {"start": round(start * 1000), "end": round(end * 1000)}
        return Kernel(name, **{**times, **facts, **changes})

    return make


@pytest.fixture
def copy() -> Callable[..., Copy]:
    def make(start: float = 0, end: float = 10, **changes: Any) -> Copy:
        facts: dict[str, Any] = {
            "name": "host to device",
            "call": 0,
            "correlation": 2,
            "device": 0,
            "stream": 7,
            "graph": 0,
            "bytes": 1 << 20,
        }
        times = {"start": round(start * 1000), "end": round(end * 1000)}
        return Copy(**{**times, **facts, **changes})

    return make


@pytest.fixture
def api_call() -> Callable[..., ApiCall]:
    def make(start: float = 0, end: float = 3, **changes: Any) -> ApiCall:
        facts: dict[str, Any] = {
            "name": "cudaLaunchKernel",
            "call": 0,
            "correlation": 1,
            "thread": 5,
        }
        times = {"start": round(start * 1000), "end": round(end * 1000)}
        return ApiCall(**{**times, **facts, **changes})

    return make
