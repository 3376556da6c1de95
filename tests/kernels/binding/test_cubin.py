"""Which of its cubins a kernel is on each GPU, with a CUDA runtime that only pretends."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fictl.jit.ffi import ffi_paths
from fictl.paths import data_root
from fictl.toolchain import find_cxx, require_nvcc

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each line of the program's output says."""
    program = tmp_path_factory.mktemp("cubin") / "cubin"
    source = Path(__file__).with_name("cubin.cpp")
    paths = [data_root("kernels"), *require_nvcc().include_dirs, ffi_paths().dlpack]
    words = [*find_cxx().argv, "-std=c++17", *(f"-I{path}" for path in paths)]
    subprocess.run([*words, source, "-o", program], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return dict(line.split(": ") for line in lines.splitlines() if ": " in line)


def test_the_newest_code_that_a_gpu_runs_is_launched(said: dict[str, str]) -> None:
    assert said["family 0"] == "8.0 <5, 128, 0>"
    assert said["family 1"] == "opt-in 65536, 8.6 <5, 256, 65536>"
    assert said["family loads"] == "2"


def test_code_comes_before_ptx_and_ptx_before_nothing(said: dict[str, str]) -> None:
    assert said["translated 1"] == "8.0 <5, 128, 0>"
    assert said["translated 2"] == "ptx <5, 128, 0>"


def test_code_of_another_gpu_is_not_launched(said: dict[str, str]) -> None:
    assert [said[f"other {gpu}"] for gpu in range(3)] == ["none"] * 3
    assert said["other loads"] == "0"


def test_code_that_cannot_be_loaded_is_an_error_at_every_launch(said: dict[str, str]) -> None:
    assert [said[f"broken {gpu}"] for gpu in range(3)] == ["error", "error", "none"]
    assert said["broken loads"] == "1"


def test_more_programs_than_a_grid_has_are_refused(said: dict[str, str]) -> None:
    assert said["large 0"] == "error"


def test_all_arguments_have_to_be_multiples_of_16(said: dict[str, str]) -> None:
    assert said["multiples"] == "100"
