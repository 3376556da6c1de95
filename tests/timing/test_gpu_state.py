"""What nvidia-smi says of a GPU, as a measurement wants it."""

from __future__ import annotations

import os

import pytest

from fictl.timing.gpu_state import GpuState, gpu_state, state_of
from fictl.toolchain.smi import Smi

FIRST = {
    "index": "0",
    "uuid": "GPU-1b5c",
    "name": "NVIDIA H200",
    "driver_version": "580.159.04",
    "clocks.sm": "1980",
    "clocks.max.sm": "1980",
    "clocks.mem": "3201",
    "power.draw": "412.53",
    "temperature.gpu": "41",
    "clocks_throttle_reasons.active": "0x0000000000000000",
}
SECOND = {
    **FIRST,
    "index": "1",
    "uuid": "GPU-77aa",
    "clocks.sm": "1410",
    "clocks_throttle_reasons.active": "0x0000000000000044",
}


def _state(wanted: str, *processes: tuple[int, str], ours: tuple[int, ...] = ()) -> GpuState:
    rows = tuple({"pid": str(pid), "gpu_uuid": uuid} for pid, uuid in processes)
    state = state_of(Smi((FIRST, SECOND), rows), wanted, ours)
    assert state is not None
    return state


def test_a_gpu_at_its_full_clock():
    assert _state("0") == GpuState(
        "NVIDIA H200", "GPU-1b5c", "580.159.04", 1980, 1980, 3201, 412.53, 41
    )


def test_a_gpu_is_found_by_its_uuid_and_says_why_it_is_slow():
    state = _state("GPU-77aa")
    assert (state.sm_mhz, state.throttled) == (1410, ("power cap", "heat (hardware)"))


def test_what_a_gpu_does_not_tell_is_none():
    state = state_of(Smi(({"index": "0", "uuid": "GPU-9"},)), "0", ours=())
    assert state is not None
    assert (state.max_sm_mhz, state.watts, state.throttled) == (None, None, ())


def test_a_gpu_that_is_not_in_the_answer_is_none():
    assert state_of(Smi((FIRST,)), "GPU-77aa", ours=()) is None


def test_other_processes_are_those_on_this_gpu_that_are_not_ours():
    processes = (1, "GPU-1b5c"), (os.getpid(), "GPU-1b5c"), (os.getppid(), "GPU-77aa")
    assert _state("0", *processes, ours=(os.getpid(),)).others == (1,)


def test_in_a_container_one_process_that_cannot_be_seen_is_this_one():
    unseen = (4194301, "GPU-1b5c"), (4194302, "GPU-1b5c")
    assert _state("0", *unseen, ours=(os.getpid(),)).others == (4194302,)


def test_without_nvidia_smi_there_is_nothing_to_say(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_state() is None


def test_a_driver_that_is_broken_says_nothing(program):
    program("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")
    assert gpu_state() is None


@pytest.mark.needs_gpu
def test_a_gpu_has_a_clock():
    state = gpu_state()
    assert state is not None
    assert state.sm_mhz
