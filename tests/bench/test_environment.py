from __future__ import annotations

from dataclasses import replace
from typing import Any

from fictl.bench.conversation import Conversation
from fictl.bench.environment import environment
from fictl.bench.messages import GpuAfter, GpuBefore, VersionsFound
from fictl.bench.observer import BenchObserver
from fictl.timing.gpu_state import GpuState


def talk(**parts: Any) -> Conversation:
    return Conversation("op", BenchObserver(), **parts)


def state(**changes: Any) -> GpuState:
    unchanged = GpuState("NVIDIA H200", "GPU-1", "580", 1980, 1980, 2619, 90.0, 40)
    return replace(unchanged, **changes)


def test_versions_and_states_are_those_of_the_processes() -> None:
    versions = VersionsFound("2.13", "13.0")
    first = talk(versions=versions, before=GpuBefore({"copy": 4e12}, state(sm_mhz=345)))
    second = talk(versions=versions, after=GpuAfter(state(sm_mhz=1965)))
    found = environment("cuda", [first, second])
    assert (found.torch, found.cuda, found.ceilings) == ("2.13", "13.0", {"copy": 4e12})
    assert (found.gpu, found.sm_mhz, found.warnings) == ("NVIDIA H200", 1965, ())


def test_a_gpu_that_others_use_is_warned_of() -> None:
    found = environment(
        "cuda",
        [talk(before=GpuBefore({}, state(others=(12,))), after=GpuAfter(state(others=(12, 7))))],
    )
    assert found.warnings == ("other processes use this GPU (7, 12): do not trust the times",)


def test_a_gpu_that_slowed_down_is_warned_of() -> None:
    found = environment("cuda", [talk(after=GpuAfter(state(throttled=("heat (driver)",))))])
    assert found.warnings == ("the GPU slowed itself down: heat (driver)",)


def test_a_gpu_of_which_nothing_is_known_is_warned_of() -> None:
    (warning,) = environment("cuda", [talk(before=GpuBefore({}, None))]).warnings
    assert warning.startswith("nvidia-smi says nothing")


def test_emulated_times_are_said_to_be_none() -> None:
    assert environment("emu", [talk()]).warnings == (
        "emulated: these are times of the host, not of a GPU",
    )


def test_warnings_of_the_processes_come_last() -> None:
    talking = talk()
    talking.warnings.append("left out")
    assert environment("emu", [talking]).warnings[-1] == "left out"
