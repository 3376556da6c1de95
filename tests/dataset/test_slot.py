from __future__ import annotations

import platform
import threading
import time
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.dataset.slot import DeviceSlot, hardware_of, slots
from fictl.errors import SetupError, UsageError
from fictl.toolchain import Gpu


def test_without_gpus_there_is_one_slot() -> None:
    machine = platform.machine()
    assert slots("emu") == (DeviceSlot("emu", hardware=f"emulated_on_{machine}"),)
    assert slots("cpu") == (DeviceSlot("cpu", hardware=f"CPU_{machine}"),)


def test_a_gpu_that_is_not_there_is_said() -> None:
    with pytest.raises(SetupError, match="no GPU here") as caught:
        slots("cuda")
    assert "--device emu" in caught.value.hint


def test_gpus_are_named_for_cuda_only() -> None:
    with pytest.raises(UsageError, match="--gpus names GPUs"):
        slots("emu", ["0"])


GPUS = (Gpu(0, "NVIDIA H100", Arch(9, 0)), Gpu(1, "NVIDIA B200", Arch(10, 0)))


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: GPUS)
    monkeypatch.setattr("fictl.dataset.slot.lock_of", lambda name: Path(f"/locks/{name}"))


def test_each_gpu_is_a_slot(two_gpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert [(s.name, s.variables, s.lock) for s in slots("cuda")] == [
        ("0", {"CUDA_VISIBLE_DEVICES": "0"}, Path("/locks/0")),
        ("1", {"CUDA_VISIBLE_DEVICES": "1"}, Path("/locks/1")),
    ]
    assert [each.name for each in slots("cuda", ["1"])] == ["1"]
    assert [slot.hardware for slot in slots("cuda")] == ["NVIDIA_H100", "NVIDIA_B200"]
    assert hardware_of("cuda", ["1"]) == ("NVIDIA_B200",)


def test_gpus_are_called_as_this_process_sees_them(
    two_gpus: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5, GPU-abc")
    assert [each.name for each in slots("cuda")] == ["5", "GPU-abc"]
    with pytest.raises(UsageError, match="there is no GPU 0"):
        slots("cuda", ["0"])


def test_a_gpu_in_use_is_waited_for_and_that_is_said(tmp_path: Path) -> None:
    slot = DeviceSlot("0", {}, tmp_path / "gpu.lock")
    said: list[str] = []

    def second() -> None:
        with slot.held(said.append, lambda: False):
            said.append("held")

    with slot.held(said.append, lambda: False):
        other = threading.Thread(target=second)
        other.start()
        while not said:
            time.sleep(0.01)
    other.join()
    assert said == ["GPU 0 is used by another run of fictl: waiting for it", "held"]


def test_who_waits_can_be_stopped(tmp_path: Path) -> None:
    slot = DeviceSlot("0", {}, tmp_path / "gpu.lock")
    with slot.held(print, lambda: False), slot.held(lambda text: None, lambda: True):
        pass
