from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.op.tactics import machine as module
from fictl.op.tactics.machine import Machine, machine, versions
from fictl.toolchain.gpus import Gpu


@pytest.fixture(autouse=True)
def _two_gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    gpus = (Gpu(0, "NVIDIA H200", Arch(9, 0)), Gpu(1, "NVIDIA L4", Arch(8, 9)))
    monkeypatch.setattr(module, "visible_gpus", lambda: gpus)
    monkeypatch.setattr(module, "_RELEASE", tmp_path / "version")
    monkeypatch.setenv("FICTL_DEVICE", "cuda")
    module._driver.cache_clear()
    yield
    module._driver.cache_clear()


def test_a_gpu_has_its_name_and_the_drivers_release(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("580.65.06\n", encoding="utf-8")
    assert [machine(0), machine(1)] == [
        Machine("NVIDIA H200", "580.65.06"),
        Machine("NVIDIA L4", "580.65.06"),
    ]
    assert machine().driver_major == "580"


def test_where_the_kernel_hides_it_nvidia_smi_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from fictl.timing import gpu_state

    state = gpu_state.GpuState("NVIDIA H200", "", "570.1", *[None] * 5)  # type: ignore[arg-type]
    monkeypatch.setattr(gpu_state, "gpu_state", lambda index: state)
    assert machine().driver == "570.1"
    module._driver.cache_clear()
    monkeypatch.setattr(gpu_state, "gpu_state", lambda index: None)
    assert machine().driver == ""


def test_a_device_that_is_not_there_is_no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine(7) == Machine("no GPU", "")


def test_emulated_it_is_the_emulated_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    assert machine(-1) == Machine("the emulated device", "")


def test_versions_are_those_that_may_matter() -> None:
    assert versions().keys() == {"fictl", "torch", "cuda"}
