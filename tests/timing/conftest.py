"""A GPU and a CUPTI of our own making: what runs when is known to the nanosecond."""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable
from enum import IntEnum
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from fictl.timing.rotation import Rotation

MIB = 1 << 20
LAUNCH = 100e-9


class FakeGpu:
    """Work runs at once on a clock of its own, in the order of its launches."""

    def __init__(self) -> None:
        self.now = 1.0
        self.capturing: list[tuple[str, float]] | None = None
        self.launches: list[str] = []
        self.on_launch: Callable[[str, float, float], None] = lambda name, begin, end: None

    def launch(self, name: str, seconds: float, early: float = 0.0) -> None:
        """`early` lets it begin before the work before it has ended."""
        if self.capturing is not None:
            self.capturing.append((name, seconds))
            return
        self.launches.append(name)
        self.on_launch(name, self.now - early, self.now + seconds)
        self.now += seconds + LAUNCH

    def tensor(self) -> Any:
        return SimpleNamespace(
            zero_=lambda: self.launch("flush", 30e-6), add_=lambda x: self.launch("probe", 1e-6)
        )


class FakeEvent:
    def __init__(self, gpu: FakeGpu) -> None:
        self.gpu = gpu

    def record(self) -> None:
        self.at = self.gpu.now

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end: FakeEvent) -> float:
        return (end.at - self.at) * 1e3


class FakeGraph:
    def __init__(self, gpu: FakeGpu) -> None:
        self.gpu = gpu
        self.work: list[tuple[str, float]] = []

    def replay(self) -> None:
        for name, seconds in self.work:
            self.gpu.launch(name, seconds)


class FakeCapture:
    """`with torch.cuda.graph(graph)`."""

    def __init__(self, graph: FakeGraph) -> None:
        self.graph = graph

    def __enter__(self) -> None:
        self.graph.gpu.capturing = self.graph.work

    def __exit__(self, *raised: object) -> None:
        self.graph.gpu.capturing = None
        if raised[0]:
            raise RuntimeError("operation failed due to a previous error during capture")
        if not self.graph.work:
            warnings.warn("The CUDA Graph is empty. This usually means …", stacklevel=2)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    """In place of torch.cuda: 50 MiB of L2, 10 GiB of memory."""
    fake = FakeGpu()
    properties = SimpleNamespace(L2_cache_size=50 * MIB)
    stand_ins: dict[str, Any] = {
        "Event": lambda enable_timing: FakeEvent(fake),
        "CUDAGraph": lambda: FakeGraph(fake),
        "graph": lambda graph, stream: FakeCapture(graph),
        "Stream": lambda: None,
        "synchronize": lambda: None,
        "is_available": lambda: True,
        "_sleep": lambda cycles: None,
        "current_device": lambda: 0,
        "get_device_properties": lambda device: properties,
        "mem_get_info": lambda: (10 << 30, 141 << 30),
        "memory_reserved": lambda: 0,
        "memory_allocated": lambda: 0,
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)
    monkeypatch.setattr(torch, "empty", lambda *args, **kwargs: fake.tensor())
    monkeypatch.setattr(torch, "zeros", lambda *args, **kwargs: fake.tensor())
    return fake


class ActivityKind(IntEnum):
    MEMCPY = 1
    MEMSET = 2
    DRIVER = 4
    RUNTIME = 5
    CONCURRENT_KERNEL = 10
    EXTERNAL_CORRELATION = 39


class FakeCupti:
    """As cupti-python: records pile up until they are flushed into the callback."""

    ActivityKind = ActivityKind
    ExternalCorrelationKind = SimpleNamespace(CUSTOM0=3)

    def __init__(self) -> None:
        self.enabled: list[ActivityKind] = []
        self.finalized = 0
        self.refuses = ""
        self.dropped: list[int] = []  # of the next flushes
        self.loses: set[str] = set()  # work without a record
        self.regions: list[int] = []
        self.records: list[Any] = []
        self.correlation = 0

    def launched(self, name: str, begin: float, end: float) -> None:
        self.correlation += 1
        if self.regions:
            self._record("EXTERNAL_CORRELATION", external_id=self.regions[-1])
        self._record("RUNTIME", start=0, end=0)
        if name not in self.loses:
            times = {"start": round(begin * 1e9), "end": round(end * 1e9)}
            kind = "MEMSET" if name == "flush" else "CONCURRENT_KERNEL"
            self._record(kind, **times, **({} if name == "flush" else {"name": name}))

    def _record(self, kind: str, **fields: Any) -> None:
        record = SimpleNamespace(kind=ActivityKind[kind], correlation_id=self.correlation, **fields)
        if record.kind in self.enabled:
            self.records.append(record)

    def activity_register_callbacks(self, requested: Any, completed: Any) -> None:
        size, most = requested()
        assert size > 0
        assert most == 0
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
        count = self.dropped.pop(0) if self.dropped else 0
        ctypes.c_size_t.from_address(address).value = count

    def activity_push_external_correlation_id(self, kind: int, number: int) -> None:
        self.regions.append(number)

    def activity_pop_external_correlation_id(self, kind: int) -> int:
        return self.regions.pop()

    def finalize(self) -> None:
        self.finalized += 1


@pytest.fixture
def cupti(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> FakeCupti:
    fake = FakeCupti()
    gpu.on_launch = fake.launched
    monkeypatch.setitem(sys.modules, "cupti", ModuleType("cupti"))
    monkeypatch.setitem(sys.modules, "cupti.cupti", fake)  # type: ignore[arg-type]
    return fake


@pytest.fixture
def no_cupti(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupti", None)


@pytest.fixture
def rotate(gpu: FakeGpu) -> Callable[..., Rotation]:
    """A rotation of calls that each launch what `work` says: names and seconds."""

    def make(*work: tuple[str, float], copies: int = 2, flush: bool = False) -> Rotation:
        def call() -> None:
            for name, seconds in work:
                gpu.launch(name, seconds)

        return Rotation(
            "op", (call,) * copies, cold=True, flush=gpu.tensor().zero_ if flush else None
        )

    return make
