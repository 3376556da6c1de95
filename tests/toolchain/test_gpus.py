from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.toolchain import Gpu, gpus, probe, visible_gpus

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("driver") / "libcuda.so.1"
    source = Path(__file__).with_name("fake_libcuda.cpp")
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", built], check=True)
    return built


@pytest.fixture
def driver(library: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(gpus, "_LIBRARY", str(library))
    return monkeypatch


def test_each_gpu_has_index_name_and_architecture(driver):
    driver.setenv("FAKE_CUDA_GPUS", "90 120")
    assert visible_gpus() == (
        Gpu(0, "NVIDIA Fake 90", Arch(9, 0), "5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a"),
        Gpu(1, "NVIDIA Fake 120", Arch(12, 0), "78787878-7878-7878-7878-787878787878"),
    )


def test_the_driver_says_which_cuda_it_runs(driver):
    driver.setenv("FAKE_CUDA_GPUS", "90")
    assert probe().cuda == 12


def test_an_old_driver_has_one_function_for_uuids(driver, library):
    source = Path(__file__).with_name("fake_libcuda.cpp")
    old = library.with_name("old_libcuda.so.1")
    argv = ["g++", "-shared", "-fPIC", "-DOLD_DRIVER", source, "-o", old]
    subprocess.run(argv, check=True)
    driver.setattr(gpus, "_LIBRARY", str(old))
    driver.setenv("FAKE_CUDA_GPUS", "90")
    assert visible_gpus()[0].uuid == "01010101-0101-0101-0101-010101010101"


def test_a_gpu_is_spelt_with_name_and_architecture(driver):
    driver.setenv("FAKE_CUDA_GPUS", "103")
    assert str(visible_gpus()[0]) == "NVIDIA Fake 103 (10.3)"


def test_without_a_driver_there_are_no_gpus_and_no_problem(monkeypatch):
    monkeypatch.setattr(gpus, "_LIBRARY", "libcuda-that-is-not-installed.so.1")
    assert probe() == gpus.Probe((), "")


@pytest.mark.parametrize("code", ["34", "100"])
def test_a_driver_without_a_device_is_no_problem(driver, code):
    driver.setenv("FAKE_CUDA_INIT", code)
    assert probe() == gpus.Probe((), "")


def test_a_driver_that_fails_keeps_its_error_code(driver):
    driver.setenv("FAKE_CUDA_INIT", "999")
    assert visible_gpus() == ()
    assert probe().problem == "the CUDA driver failed: cuInit returned 999 (CUDA_ERROR_UNKNOWN)"


def test_an_error_that_the_driver_cannot_name_keeps_its_code(driver):
    driver.setenv("FAKE_CUDA_INIT", "4711")
    assert "4711 (unknown)" in probe().problem


@pytest.mark.parametrize("code", ["999", "4711"])
def test_a_driver_that_failed_is_asked_again(driver, code):
    driver.setenv("FAKE_CUDA_INIT", code)
    assert probe().problem
    driver.delenv("FAKE_CUDA_INIT")
    driver.setenv("FAKE_CUDA_GPUS", "90")
    assert [gpu.arch for gpu in visible_gpus()] == [Arch(9, 0)]


def test_gpus_that_were_hidden_are_seen_once_they_are_not(driver):
    driver.setenv("CUDA_VISIBLE_DEVICES", "-1")
    driver.setenv("FAKE_CUDA_INIT", "100")
    assert visible_gpus() == ()
    driver.setenv("CUDA_VISIBLE_DEVICES", "0")
    driver.delenv("FAKE_CUDA_INIT")
    driver.setenv("FAKE_CUDA_GPUS", "90")
    assert len(visible_gpus()) == 1


def test_that_there_is_none_is_asked_once(driver):
    driver.setenv("FAKE_CUDA_INIT", "100")
    assert visible_gpus() is visible_gpus()


def test_the_driver_is_asked_once(driver):
    driver.setenv("FAKE_CUDA_GPUS", "90")
    before = visible_gpus()
    driver.setenv("FAKE_CUDA_GPUS", "90 90")
    assert visible_gpus() is before
