"""Compilers that are not there, too old, killed, or fail: what is said, and with which exit code."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

_TOOLS = ("sh", "cat", "g++", "as", "ld", "sleep", "dirname", "echo", "tr")

# Looks for nvcc in no place but those that a test names.
_NOWHERE_ELSE = """import sys
from fictl.toolchain import search
search._ROOTS, search._wheels = (), lambda: ()
from fictl.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def path(tmp_path):
    """A PATH with nothing but what a build needs beside nvcc and ninja."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in _TOOLS:
        (folder / tool).symlink_to(shutil.which(tool))
    return folder


def test_without_nvcc_every_place_that_was_looked_in_is_named(project, start, path):
    child = start("-c", _NOWHERE_ELSE, "build", "twice", FICTL_NVCC=None, PATH=str(path))
    _, said = child.communicate(timeout=60)
    assert child.returncode == 3
    assert "Traceback" not in said
    assert "no usable nvcc; looked in" in said
    for place in ("FICTL_NVCC", "CUDA_HOME", "PATH", "/usr/local/cuda", "conda", "PyPI"):
        assert f"    {place}" in said
    assert 'hint: FICTL_NVCC, CUDA_HOME, or pip install "fictl[toolchain]"' in said


def test_an_nvcc_that_is_too_old_is_refused(project, fictl_, stand_in_nvcc):
    old = stand_in_nvcc("11.8")
    answer = fictl_("build", "twice", FICTL_NVCC=str(old))
    assert answer.code == 3
    assert f"{old} is nvcc 11.8: CUDA 12.0 or newer is needed" in answer.err


def test_what_was_built_is_called_without_any_compiler(project, fictl_, call, path, tmp_path):
    assert fictl_("build", "twice").code == 0
    nowhere = {"FICTL_NVCC": str(tmp_path / "nothing"), "PATH": str(tmp_path)}
    assert call(**nowhere, FICTL_DISABLE_JIT="1") == "42"


def test_an_nvcc_that_fails_shows_its_first_error(project, fictl_, script, call):
    fails = script("fails", "echo 'launcher.cu(3): error: no such luck' >&2; exit 2")
    answer = fictl_("build", "twice", FICTL_NVCC_LAUNCHER=fails)
    assert answer.code == 1
    assert "elementwise.twice does not build: launcher.cu(3): error: no such luck" in answer.err
    assert "repeat: ninja -v -C " in answer.err
    assert call() == "42"


def test_a_silent_failure_leads_to_the_log(project, fictl_, script):
    answer = fictl_("build", "twice", FICTL_NVCC_LAUNCHER=script("fails", "exit 7"))
    assert answer.code == 1
    assert "a compiler failed without a message" in answer.err
    log = answer.err.partition("  log: ")[2].strip()
    assert "launcher.cu" in Path(log).read_text()


def test_a_launcher_that_is_not_installed_is_named(project, fictl_):
    answer = fictl_("build", "twice", FICTL_NVCC_LAUNCHER="no-such-cache")
    assert answer.code == 1
    assert "no-such-cache" in answer.err
    assert "not found" in answer.err


def test_a_compiler_killed_for_memory_is_run_again_alone(project, fictl_, script, tmp_path):
    once = script("once", f'mkdir "{tmp_path}/first" 2>/dev/null && kill -9 $$\nexec "$@"')
    answer = fictl_("build", "twice", FICTL_NVCC_LAUNCHER=once, FICTL_MAX_JOBS="2")
    assert answer.code == 0
    assert "a compiler was killed for memory; again with one job" in answer.err


def test_one_that_is_killed_alone_too_is_the_machines_fault(project, fictl_, script, call):
    always = script("always", "kill -9 $$")
    answer = fictl_("build", "twice", FICTL_NVCC_LAUNCHER=always, FICTL_MAX_JOBS="2")
    assert answer.code == 3
    assert "Killed" in answer.err
    assert "hint: the system ran out of memory: FICTL_MAX_JOBS=1" in answer.err
    assert call() == "42"


def test_an_undefined_symbol_fails_at_the_link_by_name(project, fictl_):
    binding = project.op / "binding.cpp"
    binding.write_text(binding.read_text().replace("int twice(int value)", "int twice(long value)"))
    answer = fictl_("build", "twice")
    assert answer.code == 1
    assert "tiny::elementwise::twice(long)" in answer.err
    assert "hint: a function is declared but not defined so" in answer.err


def test_without_ninja_it_is_said_how_to_get_it(project, start, path, tmp_path):
    # The interpreter itself has a ninja beside it, the one of another folder has none.
    lonely = tmp_path / "lonely" / "python"
    lonely.parent.mkdir()
    program = f"import sys; sys.executable = {str(lonely)!r}\n" + _NOWHERE_ELSE
    child = start("-c", program, "build", "twice", PATH=str(path))
    _, said = child.communicate(timeout=60)
    assert child.returncode == 3
    assert f"ninja is neither at {lonely.parent / 'ninja'} nor on PATH" in said
    assert "hint: pip install ninja" in said


def test_without_a_host_compiler_every_name_that_was_tried_is_said(project, fictl_, path):
    (path / "g++").unlink()
    answer = fictl_("build", "twice", PATH=str(path))
    assert answer.code == 3
    for name in ("g++", "c++", "clang++"):
        assert f"{name} is not on PATH" in answer.err
    assert "hint: install GCC 9 or Clang 10 or newer, or name one with CXX" in answer.err


def test_a_host_compiler_that_is_too_old_is_refused(project, fictl_, script):
    old = script("old-g++", "echo 'g++ (GCC) 8.5.0'")
    answer = fictl_("build", "twice", CXX=old)
    assert answer.code == 3
    assert f"{old} is gcc 8.5.0: 9 or newer is needed" in answer.err


@pytest.mark.needs_nvcc
def test_a_host_compiler_that_is_too_new_for_this_nvcc_is_the_machines_fault(tiny, fictl_, script):
    """The real nvcc is told that the compiler is GCC 99."""
    new = script("g++", f'exec {shutil.which("g++")} "$@" -U__GNUC__ -D__GNUC__=99')
    answer = fictl_("build", "twice", CXX=new)
    assert answer.code == 3
    assert "unsupported GNU version" in answer.err
    assert "hint: this nvcc wants an older host compiler: set CXX to one" in answer.err
    assert sys.executable not in answer.err
