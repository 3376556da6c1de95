"""Python, torch, ninja, tvm-ffi."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from fictl.doctor import python_packages
from fictl.doctor.python_packages import ninja, python, torch, torch_cuda, tvm_ffi
from fictl.errors import SetupError
from fictl.jit.ffi import FfiPaths, ffi_paths

H200 = ["NVIDIA H200 9.0"]


@pytest.fixture
def torch_says(monkeypatch):
    def say(code: str) -> None:
        monkeypatch.setattr(python_packages, "_ASK_TORCH", code)

    return say


def test_this_python_is_new_enough(finding):
    assert finding(python).level == "ok"


def test_an_old_python_is_an_error(finding, monkeypatch):
    monkeypatch.setattr(python_packages.sys, "version_info", (3, 9, 18))
    found = finding(python)
    assert found.level == "error"
    assert "3.10 or newer" in found.text


def test_torch_with_the_cuda_of_nvcc_is_fine(finding, torch_says):
    torch_says("print('torch 2.9.0+cu130 13.0 1')")
    found = finding(torch, gpus=H200, nvcc="13.0")
    assert (found.level, found.text) == ("ok", "2.9.0+cu130, CUDA 13.0")


def test_noise_of_the_import_is_skipped(finding, torch_says):
    torch_says("print('warning: torch is slow'); print('torch 2.9.0 13.0 1')")
    assert finding(torch, gpus=H200).text == "2.9.0, CUDA 13.0"


def test_torch_of_another_cuda_is_a_warning(finding, torch_says):
    torch_says("print('torch 2.9.0 12.8 1')")
    found = finding(torch, gpus=H200, nvcc="13.0")
    assert found.level == "warning"
    assert "2.9.0 is of CUDA 12.8, nvcc of 13.0" in found.text


def test_torch_without_cuda_is_fine_where_there_is_no_gpu(finding, torch_says):
    torch_says("print('torch 2.9.0+cpu None 0')")
    assert finding(torch).level == "ok"


@pytest.mark.parametrize(("driver", "index"), [("13.0", "cu130"), ("12.4", "cu126")])
def test_torch_without_cuda_beside_a_gpu_is_an_error(finding, torch_says, driver, index):
    torch_says("print('torch 2.9.0+cpu None 0')")
    found = finding(torch, gpus=H200, driver=driver)
    assert found.level == "error"
    assert found.fix.endswith(index)


def test_a_torch_newer_than_the_driver_sees_nothing(finding, torch_says):
    torch_says("print('torch 2.9.0 13.0 0')")
    found = finding(torch, gpus=H200, driver="12.4")
    assert found.level == "error"
    assert "sees no GPU: the driver is 550.54.15 (CUDA 12.4)" in found.text
    assert "cu126" in found.fix


def test_a_torch_that_sees_nothing_for_no_known_reason(finding, torch_says):
    torch_says("print('torch 2.9.0 13.0 0')")
    found = finding(torch, gpus=H200, driver="13.0")
    assert found.level == "error"
    assert "torch.cuda.init()" in found.fix


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("raise ImportError('libcudnn.so.9: cannot open')", "libcudnn.so.9: cannot open"),
        ("import os; os.abort()", "ended without a word"),
        ("print('torch')", "does not import: torch"),
    ],
)
def test_a_broken_torch_does_not_end_the_examination(finding, torch_says, code, seen):
    torch_says(code)
    found = finding(torch)
    assert found.level == "error"
    assert seen in found.text


def test_a_missing_torch_is_told_from_a_broken_one(finding, torch_says):
    torch_says("raise ModuleNotFoundError(\"No module named 'torch'\")")
    found = finding(torch)
    assert (found.text, found.fix) == ("not installed", "pip install torch")


def test_a_torch_that_hangs_is_ended(finding, torch_says, monkeypatch):
    monkeypatch.setattr(python_packages, "_SECONDS", 0.2)
    torch_says("import time; time.sleep(60)")
    found = finding(torch)
    assert found.level == "error"
    assert "did not end" in found.text


def test_the_real_torch_is_understood():
    done = subprocess.run(
        [sys.executable, "-c", python_packages._ASK_TORCH], capture_output=True, text=True
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("torch "))
    assert len(line.split()) == 4


@pytest.mark.parametrize(
    ("line", "cuda"),
    [
        ("cuda: Optional[str] = '12.8'", 12),
        ("cuda = '13.0'", 13),
        ("cuda: Optional[str] = None", None),
        ("", None),
    ],
)
def test_the_cuda_of_torch_is_read_without_importing_it(monkeypatch, tmp_path, line, cuda):
    (tmp_path / "version.py").write_text(f"__version__ = '2.9'\n{line}\nhip = None\n")
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert torch_cuda() == cuda


def test_no_torch_is_of_no_cuda(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert torch_cuda() is None


def test_ninja_is_run_for_its_version(finding):
    assert finding(ninja).level == "ok"


def test_a_missing_ninja_is_an_error(finding, monkeypatch):
    def fail():
        raise SetupError("ninja is neither here nor there", "pip install ninja")

    monkeypatch.setattr(python_packages, "ninja_binary", fail)
    assert finding(ninja).fix == "pip install ninja"


def test_a_ninja_that_does_not_run_is_an_error(finding, monkeypatch, program):
    broken = program("ninja", "echo 'bad ELF'; exit 1")
    monkeypatch.setattr(python_packages, "ninja_binary", lambda: str(broken))
    found = finding(ninja)
    assert found.level == "error"
    assert "bad ELF" in found.text


def test_tvm_ffi_is_whole(finding):
    assert finding(tvm_ffi).level == "ok"


def test_a_missing_tvm_ffi_is_an_error(finding, monkeypatch):
    def fail():
        raise SetupError("not installed")

    monkeypatch.setattr(python_packages, "ffi_paths", fail)
    assert "not installed" in finding(tvm_ffi).text


def test_missing_headers_of_tvm_ffi_are_named(finding, monkeypatch):
    real = ffi_paths()
    paths = FfiPaths(Path("/nowhere"), real.dlpack, real.library)
    monkeypatch.setattr(python_packages, "ffi_paths", lambda: paths)
    found = finding(tvm_ffi)
    assert found.level == "error"
    assert "/nowhere/tvm/ffi/c_api.h" in found.text


def test_another_abi_of_tvm_ffi_is_an_error(finding, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.2.0")
    found = finding(tvm_ffi)
    assert found.level == "error"
    assert "<0.2" in found.fix
