"""The driver against what nvcc builds."""

from __future__ import annotations

import ctypes

import pytest

from fictl.doctor import cuda_driver, driver
from fictl.doctor.cuda_driver import read_driver
from fictl.toolchain.smi import Smi


def test_a_machine_without_a_driver_can_still_build(finding):
    found = finding(driver.driver)
    assert found.level == "warning"
    assert "none (libcuda" in found.text
    assert "525.60" in found.fix


@pytest.mark.parametrize("words", ["x86_64 Kernel Module", "Open Kernel Module for x86_64"])
def test_a_kernel_module_without_its_library_is_an_error(finding, words):
    cuda_driver._KERNEL_MODULE.write_text(
        f"NVRM version: NVIDIA UNIX {words}  580.95.05  Release\n"
    )
    found = finding(driver.driver)
    assert found.level == "error"
    assert "580.95.05" in found.text
    assert "--gpus all" in found.fix


def test_a_driver_that_only_nvidia_smi_reaches_is_an_error(finding):
    found = finding(driver.driver, smi=Smi(gpus=({"driver_version": "550.54.15"},)))
    assert found.level == "error"
    assert "driver 550.54.15 is loaded" in found.text


def test_a_driver_older_than_nvcc_names_the_driver_that_is_needed(finding):
    found = finding(driver.driver, driver="12.4", nvcc="13.0")
    assert found.level == "error"
    assert "550.54.15 (CUDA 12.4) does not run what nvcc 13.0 builds" in found.text
    assert "580.65 or newer" in found.fix


def test_an_older_nvcc_that_is_here_is_the_other_way_out(
    finding, stand_in_nvcc, monkeypatch, tmp_path
):
    nvcc = stand_in_nvcc("12.8")
    monkeypatch.setenv("CUDA_HOME", str(nvcc.parents[1]))
    assert f"FICTL_NVCC={nvcc}" in finding(driver.driver, driver="12.4", nvcc="13.0").fix


def test_minor_versions_are_compatible(finding):
    found = finding(driver.driver, driver="12.4", nvcc="12.9")
    assert (found.level, found.text) == ("ok", "550.54.15 (CUDA 12.4)")


@pytest.mark.parametrize("number", [13000, 12080])
def test_the_version_is_asked_of_the_library(monkeypatch, number):
    class Library:
        def cuDriverGetVersion(self, version):  # noqa: N802
            version._obj.value = number

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    found = read_driver()
    assert found is not None
    assert found.cuda == (number // 1000, number % 1000 // 10)
