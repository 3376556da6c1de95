from __future__ import annotations

import platform
import threading
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_plan import EvaluationJob
from fictl.dataset.slot import DeviceSlot, hardware_of, slots
from fictl.errors import SetupError, UsageError
from fictl.gpu_lock.visible import LockedGpu
from fictl.toolchain import Gpu
from fictl.trace import Evaluation, TraceSet, Workload

from .samples import evaluation, run


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


GPUS = (Gpu(0, "NVIDIA H100", Arch(9, 0), "aa"), Gpu(1, "NVIDIA B200", Arch(10, 0), "bb"))


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: GPUS)


def test_each_gpu_is_a_slot(two_gpus: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert [(s.name, s.variables, s.gpu) for s in slots("cuda")] == [
        ("0", {"CUDA_VISIBLE_DEVICES": "0"}, LockedGpu("aa", "0")),
        ("1", {"CUDA_VISIBLE_DEVICES": "1"}, LockedGpu("bb", "1")),
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


def test_who_waits_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path))
    slot = DeviceSlot("0", {}, LockedGpu("aa", "0"))
    notes: list[str] = []
    with slot.held(print, lambda: False), slot.held(notes.append, lambda: bool(notes)):
        pass
    assert len(notes) == 1


def test_a_gpu_that_others_use_is_left_out_when_the_wait_ends(
    dataset: TraceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path))
    used, free = (DeviceSlot(key, {}, LockedGpu(key, key)) for key in ("aa", "bb"))
    noted = threading.Event()

    class Observer(RunObserver):
        def note(self, text: str) -> None:
            noted.set()

    def judge(job: EvaluationJob, workload: Workload, slot: DeviceSlot) -> Evaluation:
        noted.wait(60)  # Otherwise all may be done before the other place asks for its GPU.
        return evaluation()

    with used.held(print, lambda: False):
        summary = run(dataset, judge, slots=(used, free), wait=0.0, observer=Observer())
        assert (dict(summary.statuses), summary.undone) == ({"PASSED": 7}, 0)
        assert "place aa left out: GPU aa is used by" in summary.left_out[0]
        summary = run(dataset, slots=(used,), wait=0.0)
    assert (summary.outcomes, summary.undone) == ([], 7)


def test_no_gpu_is_waited_for_when_nothing_is_left_to_do(
    dataset: TraceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_GPU_LOCK_DIR", str(tmp_path))
    used, free = (DeviceSlot(key, {}, LockedGpu(key, key)) for key in ("aa", "bb"))
    with used.held(print, lambda: False):
        assert len(run(dataset, slots=(used, free)).outcomes) == 7
