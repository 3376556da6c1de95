from __future__ import annotations

import sys

import pytest

from fictl.toolchain.tools import find_tool


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("fictl.toolchain.tools.find_nvcc", lambda: None)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])


def _program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_tool_that_is_nowhere_is_none():
    assert find_tool("cuobjdump") is None


def test_path_comes_first(tmp_path):
    _program(tmp_path / "site/nvidia/cu13/bin/cuobjdump")
    first = _program(tmp_path / "bin/cuobjdump")
    assert find_tool("cuobjdump") == first


def test_then_the_toolkit_of_the_nvcc_in_use(tmp_path, monkeypatch, stand_in_nvcc):
    from fictl.toolchain.nvcc import inspect

    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    nvcc = inspect(stand_in_nvcc("13.0"))
    monkeypatch.setattr("fictl.toolchain.tools.find_nvcc", lambda: nvcc)
    tool = _program(nvcc.home / "bin" / "cuobjdump")
    assert find_tool("cuobjdump") == tool


def test_then_pypi_packages_newest_first(tmp_path):
    _program(tmp_path / "site/nvidia/cu12/bin/cuobjdump")
    newer = _program(tmp_path / "site/nvidia/cu13/bin/cuobjdump")
    assert find_tool("cuobjdump") == newer


def test_what_triton_comes_with_is_the_last_resort(tmp_path):
    tool = _program(tmp_path / "site/triton/backends/nvidia/bin/nvdisasm")
    assert find_tool("nvdisasm") == tool
    newer = _program(tmp_path / "site/nvidia/cu13/bin/nvdisasm")
    assert find_tool("nvdisasm") == newer


def test_a_file_that_cannot_be_run_is_passed_over(tmp_path):
    _program(tmp_path / "site/nvidia/cu13/bin/cuobjdump").chmod(0o644)
    assert find_tool("cuobjdump") is None
