"""Which GPUs there are, and why none may be seen."""

from __future__ import annotations

import pytest

from fictl.doctor import Facts, run
from fictl.doctor.gpus import gpus
from fictl.toolchain import Probe
from fictl.toolchain.smi import Smi

TWO = Smi(gpus=({"index": "0"}, {"index": "1"}))


def test_no_gpu_is_a_warning(finding):
    assert finding(gpus).level == "warning"


@pytest.mark.parametrize("value", ["", "7", "-1"])
def test_a_variable_that_hides_them_all_is_named(finding, value):
    found = finding(gpus, smi=TWO, environ={"CUDA_VISIBLE_DEVICES": value})
    assert found.level == "warning"
    assert f"CUDA_VISIBLE_DEVICES={value!r} hides all 2" in found.text
    assert found.fix == "unset CUDA_VISIBLE_DEVICES"


def test_gpus_that_cuda_does_not_see_are_an_error(finding):
    found = finding(gpus, smi=TWO)
    assert found.level == "error"
    assert "/dev/nvidia" in found.fix


@pytest.mark.parametrize(
    ("problem", "fix"),
    [
        ("cuInit returned 802 (CUDA_ERROR_SYSTEM_NOT_READY)", "fabricmanager"),
        ("cuInit returned 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)", "reboot"),
        ("cuInit returned 999 (CUDA_ERROR_UNKNOWN)", "nvidia_uvm"),
    ],
)
def test_a_driver_that_fails_is_an_error_with_its_own_fix(finding, problem, fix):
    (found,) = run((gpus,), Facts(gpus=Probe(problem=problem)))
    assert (found.level, found.text) == ("error", problem)
    assert fix in found.fix


def test_equal_gpus_are_counted(finding):
    found = finding(gpus, gpus=["NVIDIA H200 9.0", "NVIDIA H200 9.0", "Tesla T4 7.5"])
    assert found.text.splitlines()[0] == "2 x NVIDIA H200 (9.0), 1 x Tesla T4 (7.5)"


def test_a_partial_view_is_shown(finding):
    found = finding(gpus, gpus=["NVIDIA H200 9.0"], environ={"CUDA_VISIBLE_DEVICES": "1"})
    assert "(CUDA_VISIBLE_DEVICES=1)" in found.text


def test_only_gpus_below_the_floor_are_an_error(finding):
    found = finding(gpus, gpus=["Tesla V100 7.0"])
    assert found.level == "error"
    assert "Tesla V100 (7.0): 7.5 or newer is needed" in found.text


def test_beside_a_newer_one_an_old_gpu_is_left_out(finding):
    found = finding(gpus, gpus=["Tesla V100 7.0", "Tesla T4 7.5"])
    assert (found.level, found.fix) == ("warning", "CUDA_VISIBLE_DEVICES=1")
