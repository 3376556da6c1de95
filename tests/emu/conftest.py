"""Kernels of tests/emu/kernels, built for the emulated device as `fictl build` would."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fictl.emu.device import EmulatedDevice
from fictl.emu.report import Report
from fictl.emu.schedule import Schedule, all_schedules
from fictl.jit import gen_jit_spec
from fictl.jit.emulation import emulated_device

KERNELS = Path(__file__).with_name("kernels")
HEADERS = Path(__file__).parents[2] / "kernels" / "include"
SCHEDULES = [*all_schedules()[:2], Schedule("random", 1, early=True), Schedule("random", 2)]


CACHE = os.environ.get("FICTL_WORKSPACE_BASE", "")


@pytest.fixture(autouse=True)
def _on_the_emulated_device(_isolated: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the user's cache: the runtime is compiled once for all tests."""
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", CACHE)


@pytest.fixture(params=SCHEDULES, ids=str)
def schedule(request: pytest.FixtureRequest) -> Schedule:
    return request.param


@pytest.fixture(params=["g++", "clang++"])
def compiler(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _on_the_emulated_device: None
) -> str:
    """For tests of the language, which both families of compilers have to take."""
    if shutil.which(request.param) is None:
        pytest.skip(f"needs {request.param}")
    monkeypatch.setenv("CXX", request.param)
    return request.param


@pytest.fixture
def device() -> Iterator[EmulatedDevice]:
    """With nothing watched and nothing reported, before and after."""
    device = emulated_device()
    device.take_reports()
    device.watch(())
    yield device
    device.watch(())
    device.take_reports()
    device.run_under(Schedule())


@pytest.fixture(scope="session")
def _built() -> dict[tuple[object, ...], Path]:
    """Modules of kernels of this folder, which no test changes: thousands of tests look one up."""
    return {}


@pytest.fixture
def emulate(monkeypatch, _built: dict[tuple[object, ...], Path]) -> Callable[..., ctypes.CDLL]:
    """`emulate("gemm.cu", checked=True)`: its extern "C" functions; built once for all tests."""

    def build(source: str | Path, *, checked: bool = False, flags: tuple[str, ...] = ()):
        monkeypatch.setenv("FICTL_EMU_CHECK", str(int(checked)))
        path = KERNELS / source
        key = (path, checked, flags, os.environ.get("CXX"))
        module = _built.get(key) or _build(path, flags)
        if path.parent == KERNELS:
            _built[key] = module
        emulated_device()
        return ctypes.CDLL(str(module))

    return build


def _build(path: Path, flags: tuple[str, ...]) -> Path:
    # Some use <fictl/device/…>, as kernels of users do.
    words = ["-fvisibility=default", f"-I{HEADERS}", *flags]
    return gen_jit_spec(f"emu_{path.stem}", [path], words).build().module


@pytest.fixture
def reported(device: EmulatedDevice) -> Callable[[], list[Report]]:
    """What was reported since the last call."""
    return device.take_reports
