from __future__ import annotations

import platform
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.errors import SetupError, UsageError
from fictl.farm.place import Place, hardware_of, places_here
from fictl.gpu_lock.visible import LockedGpu
from fictl.toolchain import Gpu


def test_without_gpus_there_is_one_slot() -> None:
    machine = platform.machine()
    assert places_here("emu") == (Place("emu", hardware=f"emulated_on_{machine}"),)
    assert places_here("cpu") == (Place("cpu", hardware=f"CPU_{machine}"),)


def test_a_gpu_that_is_not_there_is_said() -> None:
    with pytest.raises(SetupError, match="no GPU here") as caught:
        places_here("cuda")
    assert "--device emu" in caught.value.hint


def test_gpus_are_named_for_cuda_only() -> None:
    with pytest.raises(UsageError, match="--gpus names GPUs"):
        places_here("emu", ["0"])


GPUS = (Gpu(0, "NVIDIA H100", Arch(9, 0), "aa"), Gpu(1, "NVIDIA B200", Arch(10, 0), "bb"))


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: GPUS)


def test_each_gpu_is_a_slot(two_gpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert [(s.name, s.variables, s.gpu) for s in places_here("cuda")] == [
        ("0", {"CUDA_VISIBLE_DEVICES": "0"}, LockedGpu("aa", "0")),
        ("1", {"CUDA_VISIBLE_DEVICES": "1"}, LockedGpu("bb", "1")),
    ]
    assert [each.name for each in places_here("cuda", ["1"])] == ["1"]
    assert [slot.hardware for slot in places_here("cuda")] == ["NVIDIA_H100", "NVIDIA_B200"]
    assert hardware_of("cuda", ["1"]) == ("NVIDIA_B200",)


def test_gpus_are_called_as_this_process_sees_them(
    two_gpus: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5, GPU-abc")
    assert [each.name for each in places_here("cuda")] == ["5", "GPU-abc"]
    with pytest.raises(UsageError, match="there is no GPU 0"):
        places_here("cuda", ["0"])


def test_who_waits_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path))
    slot = Place("0", {}, LockedGpu("aa", "0"))
    notes: list[str] = []
    with slot.held(print, lambda: False), slot.held(notes.append, lambda: bool(notes)):
        pass
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("hardware", "kind", "is_one"),
    [
        ("NVIDIA_A100-SXM4-80GB", "A100", True),
        ("NVIDIA_A100-SXM4-80GB", "a100-sxm4", True),
        ("NVIDIA_A100-SXM4-80GB", "NVIDIA A100", True),
        ("NVIDIA_A100-SXM4-80GB", "NVIDIA_A100-SXM4-80GB", True),
        ("NVIDIA_A100-SXM4-80GB", "A10", False),
        ("NVIDIA_H100_80GB_HBM3", "H200", False),
        ("NVIDIA_GB200", "B200", False),
        ("NVIDIA_H200", "", False),
        ("NVIDIA_H200", "_", False),
        ("", "", False),
    ],
)
def test_hardware_is_chosen_by_its_words(hardware: str, kind: str, is_one: bool) -> None:
    assert Place("p", hardware=hardware).is_a(kind) == is_one
