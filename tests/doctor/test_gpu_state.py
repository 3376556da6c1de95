"""What spoils a measurement."""

from __future__ import annotations

import os

import pytest

from fictl.doctor import gpu_state
from fictl.toolchain.smi import Smi

IDLE = {
    "index": "0",
    "uuid": "GPU-1",
    "clocks.sm": "345",
    "clocks.max.sm": "1980",
    "clocks_throttle_reasons.active": "0x0000000000000001",
    "persistence_mode": "Enabled",
    "mig.mode.current": "Disabled",
    "ecc.errors.uncorrected.volatile.total": "0",
}


def state(**changes: str) -> Smi:
    return Smi(gpus=({**IDLE, **changes},))


def test_without_gpu_and_program_nothing_is_missed(findings):
    assert findings(gpu_state.answers) == []


def test_with_a_gpu_the_program_is_missed(finding):
    found = finding(gpu_state.answers, gpus=["NVIDIA H200 9.0"])
    assert found.level == "warning"
    assert "not on PATH" in found.text


@pytest.mark.parametrize(("gpus", "level"), [([], "error"), (["NVIDIA H200 9.0"], "warning")])
def test_a_program_that_fails_weighs_less_where_cuda_works(finding, gpus, level):
    found = finding(gpu_state.answers, gpus=gpus, smi=Smi(problem="nvidia-smi fails"))
    assert (found.level, found.text) == (level, "nvidia-smi fails")


def test_an_idle_gpu_is_fine(finding):
    found = finding(gpu_state.clocks, smi=state())
    assert found.level == "ok"
    assert "GPU 0: 345 of 1980 MHz, persistence Enabled, MIG Disabled" in found.text


@pytest.mark.parametrize(
    ("mask", "why"), [("0x04", "power cap"), ("0x60", "heat (driver), heat (hardware)")]
)
def test_a_gpu_that_is_held_back_says_by_what(finding, mask, why):
    found = finding(gpu_state.clocks, smi=state(**{"clocks_throttle_reasons.active": mask}))
    assert found.level == "warning"
    assert f"GPU 0 is held back by {why}: 345 of 1980 MHz" in found.text


@pytest.mark.parametrize("mask", ["Active", ""])
def test_reasons_that_cannot_be_read_accuse_nobody(finding, mask):
    found = finding(gpu_state.clocks, smi=state(**{"clocks_throttle_reasons.active": mask}))
    assert found.level == "ok"


def test_a_gpu_that_tells_nothing_is_fine(finding):
    assert finding(gpu_state.clocks, smi=Smi(gpus=({},))).level == "ok"


def test_errors_of_the_memory_are_said(finding):
    found = finding(
        gpu_state.memory_errors, smi=state(**{"ecc.errors.uncorrected.volatile.total": "2"})
    )
    assert found.level == "warning"
    assert "GPU 0: 2 errors" in found.text


def test_sound_memory_is_not_mentioned(findings):
    assert findings(gpu_state.memory_errors, smi=state()) == []


def test_other_processes_are_named(finding):
    row = {"gpu_uuid": "GPU-1", "pid": "77", "used_memory": "512", "process_name": "python"}
    found = finding(gpu_state.processes, smi=Smi((IDLE,), (row,)))
    assert found.level == "warning"
    assert found.text == "GPU 0: python (pid 77), 512 MiB"


def test_this_process_is_no_other(finding):
    row = {"gpu_uuid": "GPU-1", "pid": str(os.getpid())}
    assert finding(gpu_state.processes, smi=Smi((IDLE,), (row,))).level == "ok"


def test_a_process_of_which_little_is_known_is_still_one(finding):
    found = finding(gpu_state.processes, smi=Smi((IDLE,), ({"pid": "77"},)))
    assert found.text == "GPU ?: a process (pid 77), ? MiB"
