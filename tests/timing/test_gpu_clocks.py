"""Clocks by NVML, and by nvidia-smi where NVML refuses."""

from __future__ import annotations

import ctypes
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from fictl.errors import SetupError
from fictl.timing import gpu_clocks as module
from fictl.timing.gpu_clocks import GpuClocks, gpu_clocks
from fictl.timing.gpu_state import GpuState

SLOW = GpuState("GPU", "GPU-1", "1", 1000, 1900, None, None, None, ("heat (driver)",))
BY_SMI = GpuClocks(1000, 1900, ("heat (driver)",))


HANDLE, NOW = "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetClockInfo"
MOST, MASK = "nvmlDeviceGetMaxClockInfo", "nvmlDeviceGetCurrentClocksThrottleReasons"


def library(refuses: str = "", lacks: str = "") -> SimpleNamespace:
    """Return an NVML of one GPU; a function of it returns an error, or is not there."""

    def handle(uuid: bytes, device: Any) -> int:
        return _told(device, 7 if uuid == b"GPU-1" else 0)

    def clock(mhz: int, device: ctypes.c_void_p, kind: int, value: Any) -> int:
        assert (device.value, kind) == (7, 1)
        return _told(value, mhz)

    def mask(device: ctypes.c_void_p, value: Any) -> int:
        assert device.value == 7
        return _told(value, 0x4 | 0x1)

    known = {HANDLE: handle, NOW: partial(clock, 1980), MOST: partial(clock, 1985), MASK: mask}
    if refuses:
        known[refuses] = lambda *_: 3
    return SimpleNamespace(**{name: step for name, step in known.items() if name != lacks})


def _told(where: Any, value: int) -> int:
    where._obj.value = value
    return 0


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(module, "gpu_state", lambda: SLOW)
    monkeypatch.setattr(module, "uuid_of", lambda device: "GPU-1")

    def reading(nvml: Any) -> GpuClocks | None:
        monkeypatch.setattr(module, "_nvml", lambda: nvml)
        return gpu_clocks()

    return reading


def test_nvml_is_asked_by_the_uuid(read: Any) -> None:
    assert read(library()) == GpuClocks(1980, 1985, ("power cap",))


@pytest.mark.parametrize("name", [HANDLE, NOW, MOST, MASK])
def test_where_it_refuses_nvidia_smi_is_asked(read: Any, name: str) -> None:
    assert read(library(refuses=name)) == BY_SMI
    assert read(library(lacks=name)) == BY_SMI


def test_without_nvml_nvidia_smi_is_asked(read: Any) -> None:
    assert read(None) == BY_SMI


def test_a_gpu_without_uuid_is_asked_of_nvidia_smi(
    read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(device: str) -> str:
        raise SetupError("the UUID is unknown", "fictl doctor")

    monkeypatch.setattr(module, "uuid_of", unknown)
    assert read(library()) == BY_SMI


def test_where_nothing_tells_there_are_none(read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "gpu_state", lambda: None)
    assert read(None) is None


def test_a_machine_without_the_library_has_no_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LIBRARY", "libthere-is-none.so.1")
    module._nvml.cache_clear()
    assert module._nvml() is None
    module._nvml.cache_clear()
