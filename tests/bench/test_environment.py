from __future__ import annotations

from typing import Any

from fictl.bench.conversation import Conversation
from fictl.bench.environment import environment
from fictl.bench.observer import BenchObserver


def talk(**facts: Any) -> Conversation:
    return Conversation("op", BenchObserver(), facts=facts)


def state(**changes: Any) -> dict[str, Any]:
    return {"name": "NVIDIA H200", "sm_mhz": 1980, "throttled": [], "others": [], **changes}


def test_versions_and_states_are_those_of_the_processes() -> None:
    first = talk(torch="2.13", cuda="13.0", ceilings={"copy": 4e12}, before=state(sm_mhz=345))
    second = talk(torch="2.13", after=state(sm_mhz=1965))
    found = environment("cuda", [first, second])
    assert (found.torch, found.cuda, found.ceilings) == ("2.13", "13.0", {"copy": 4e12})
    assert (found.gpu, found.sm_mhz, found.warnings) == ("NVIDIA H200", 1965, ())


def test_a_gpu_that_others_use_is_warned_of() -> None:
    found = environment("cuda", [talk(before=state(others=[12]), after=state(others=[12, 7]))])
    assert found.warnings == ("other processes use this GPU (7, 12): do not trust the times",)


def test_a_gpu_that_slowed_down_is_warned_of() -> None:
    found = environment("cuda", [talk(after=state(throttled=["heat (driver)"]))])
    assert found.warnings == ("the GPU slowed itself down: heat (driver)",)


def test_a_gpu_of_which_nothing_is_known_is_warned_of() -> None:
    (warning,) = environment("cuda", [talk(before=None)]).warnings
    assert warning.startswith("nvidia-smi says nothing")


def test_emulated_times_are_said_to_be_none() -> None:
    assert environment("emu", [talk()]).warnings == (
        "emulated: these are times of the host, not of a GPU",
    )


def test_warnings_of_the_processes_come_last() -> None:
    talking = talk()
    talking.warnings.append("left out")
    assert environment("emu", [talking]).warnings[-1] == "left out"
