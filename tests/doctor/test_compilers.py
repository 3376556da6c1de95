"""nvcc, the C++ compiler, and the limit that one sets the other."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from fictl.doctor import compilers
from fictl.doctor.compilers import host_compiler, newest_supported, nvcc, toolkit
from fictl.toolchain import find_nvcc, forget, search

HOST_CONFIG = """
#if __GNUC__ > {gcc}
#error -- unsupported GNU version!
#endif
#if (__clang_major__ >= {clang}) || (__clang_major__ < 3)
#error -- unsupported clang version!
#endif
"""


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """No nvcc in any usual place."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", f"{empty}:/usr/bin:/bin")
    monkeypatch.setattr(search, "_ROOTS", (tmp_path / "local",))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site-packages")])
    monkeypatch.setattr(sys, "prefix", str(empty))
    forget()


@pytest.fixture
def limited(use_nvcc):
    """An nvcc whose header lets compilers through up to a version."""

    def make(gcc: int = 13, clang: int = 18):
        found = use_nvcc("12.8")
        header = found.include_dirs[0] / "crt/host_config.h"
        header.write_text(HOST_CONFIG.format(gcc=gcc, clang=clang + 1))
        return found

    return make


@pytest.fixture
def compiler(program, monkeypatch):
    """A stand-in for g++ or clang++, chosen with CXX."""

    def make(name: str, line: str):
        monkeypatch.setenv("CXX", str(program(name, f'case $1 in --version) echo "{line}";; esac')))

    return make


def test_every_place_is_listed_with_its_outcome(finding, use_nvcc):
    found = finding(nvcc, nvcc=use_nvcc("12.8"))
    assert found.level == "ok"
    first, *places = found.text.splitlines()
    assert first.startswith("12.8, ")
    assert any(line.startswith("FICTL_NVCC: ") and line.endswith(", used") for line in places)
    assert "CUDA_HOME: not set" in places
    assert {"PATH", "conda", "PyPI packages"} <= {line.partition(":")[0] for line in places}


def test_a_second_nvcc_is_usable_not_used(finding, stand_in_nvcc, monkeypatch, bare):
    monkeypatch.setenv("FICTL_NVCC", str(stand_in_nvcc("12.8")))
    monkeypatch.setenv("CUDA_HOME", str(stand_in_nvcc("13.0").parents[1]))
    lines = finding(nvcc, nvcc=find_nvcc()).text.splitlines()
    assert [line.rpartition(", ")[2] for line in lines[1:3]] == ["used", "usable"]


def test_a_wrapper_is_shown_with_its_toolkit(finding, stand_in_nvcc, program, monkeypatch):
    real = stand_in_nvcc("12.8")
    monkeypatch.setenv("FICTL_NVCC", str(program("nvcc", f'exec "{real}" "$@"')))
    found = finding(nvcc, nvcc=find_nvcc())
    assert f"(a wrapper; the toolkit is {real.parents[1]})" in found.text.splitlines()[0]


def test_no_nvcc_lists_the_places_and_the_ways_out(finding, bare):
    found = finding(nvcc)
    assert found.level == "error"
    assert found.text.splitlines()[0] == "no usable nvcc"
    assert "CUDA_HOME: not set" in found.text
    assert 'pip install "fictl[toolchain]"' in found.fix


def test_a_machine_that_only_runs_builds_needs_no_nvcc(finding, bare, monkeypatch):
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    assert finding(nvcc).level == "warning"


def test_an_nvcc_that_was_named_and_is_broken_is_not_passed_over(finding, program, monkeypatch):
    monkeypatch.setenv("FICTL_NVCC", str(program("nvcc", "echo 'no license'; exit 1")))
    found = finding(nvcc)
    assert found.level == "error"
    assert "no license" in found.text.splitlines()[0]


def test_an_nvcc_below_the_floor_is_said_in_its_place(finding, bare, program):
    old = program("nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'")
    for part in (
        "bin/nvcc.profile",
        "nvvm/bin/cicc",
        "include/cuda_runtime.h",
        "include/crt/host_config.h",
    ):
        (old.parents[1] / part).parent.mkdir(parents=True, exist_ok=True)
        (old.parents[1] / part).touch()
    found = finding(nvcc)
    assert found.level == "error"
    assert "nvcc 11.8: CUDA 12.0 or newer is needed" in found.text


def test_parts_of_the_toolkit_that_are_missing_are_named(finding, use_nvcc):
    bare = replace(use_nvcc("13.0"), version=(99, 0), library_dirs=())
    found = finding(toolkit, nvcc=bare)
    assert found.level == "error"
    for part in ("cuda_fp16.h", "CCCL", "libcudart.so.99 (nvidia-cuda-runtime)"):
        assert part in found.text


def test_a_whole_toolkit_is_fine(finding, use_nvcc):
    whole = use_nvcc("13.0")
    for header in ("cuda_fp16.h", "nv/target"):
        path = whole.include_dirs[0] / header
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert finding(toolkit, nvcc=whole).level == "ok"


def test_a_compiler_within_the_limit_is_fine(finding, limited, compiler):
    compiler("g++", "g++ (Debian 12.2.0-14) 12.2.0")
    found = finding(host_compiler, nvcc=limited(gcc=13))
    assert found.level == "ok"
    assert "gcc 12.2.0" in found.text
    assert "(nvcc takes up to 13)" in found.text


@pytest.mark.parametrize(
    ("name", "line", "limit", "fix"),
    [
        ("g++", "g++ (Arch) 15.1.0", "gcc up to 13", "CXX=g++-13"),
        ("clang++", "clang version 20.1.0", "clang up to 18", "CXX=clang++-18"),
    ],
)
def test_a_compiler_beyond_the_limit_names_it(
    finding, limited, compiler, name, line, limit, fix, monkeypatch
):
    monkeypatch.setattr(compilers, "_OLDEST_GCC", 99)  # None of those here is looked for.
    compiler(name, line)
    found = finding(host_compiler, nvcc=limited())
    assert found.level == "error"
    assert f"nvcc 12.8 takes {limit}" in found.text
    assert fix in found.fix


def test_an_older_compiler_that_is_here_is_proposed(finding, limited, compiler, program):
    compiler("g++", "g++ (Arch) 15.1.0")
    program("g++-11", "true")
    assert finding(host_compiler, nvcc=limited(gcc=11)).fix == "CXX=g++-11"


@pytest.mark.parametrize("line", ["g++ (GCC) 8.5.0", "clang version 9.0.1"])
def test_a_compiler_below_the_floor_is_an_error(finding, compiler, line):
    compiler("c++", line)
    found = finding(host_compiler)
    assert found.level == "error"
    assert "or newer is needed" in found.text


def test_a_header_that_sets_no_limit_allows_all(use_nvcc):
    assert newest_supported(use_nvcc("13.0"), "gcc") is None


def test_the_limit_of_the_real_header_is_read(real_nvcc):
    assert newest_supported(real_nvcc, "gcc") >= 12
    assert newest_supported(real_nvcc, "clang") >= 14
