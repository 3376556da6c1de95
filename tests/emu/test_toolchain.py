"""What compiles emulated modules, what of it is in their key, and what to do where it is missing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fictl.emu import toolchain
from fictl.emu.toolchain import EmuToolchain, current_toolchain, emulator_digest, require_toolchain
from fictl.errors import SetupError
from fictl.toolchain import CudaHeaders, HostCompiler

HEADERS = CudaHeaders((Path("/cuda/include"),), (13, 0))


def of_family(family: str) -> EmuToolchain:
    return EmuToolchain(HostCompiler(("/bin/c++", "-m64"), family, (12,), "c++ 12"), HEADERS)


@pytest.fixture
def no_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_headers", lambda: None)


@pytest.fixture
def emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the emulator, which a test may edit."""
    root = shutil.copytree(toolchain.ROOT, tmp_path / "emu")
    for name, path in {"ROOT": "", "HEADERS": "include", "COMPILER": "compile.py"}.items():
        monkeypatch.setattr(toolchain, name, root / path)
    monkeypatch.setattr(toolchain, "__file__", str(root / "toolchain.py"))
    emulator_digest.cache_clear()
    yield root
    emulator_digest.cache_clear()


def digest() -> str:
    emulator_digest.cache_clear()
    return emulator_digest()


def test_a_copy_of_the_emulator_has_its_digest(emulator: Path, monkeypatch) -> None:
    copied = digest()
    monkeypatch.undo()
    assert digest() == copied


@pytest.mark.parametrize(
    "path",
    [
        "include/fictl_emu/prelude.h",
        "include/fictl_emu/abi.h",
        "include/cooperative_groups.h",
        "rewrite/__init__.py",
        "rewrite/ptx/memory.py",
        "compile.py",
        "toolchain.py",
    ],
)
def test_an_edit_of_what_shapes_the_code_changes_the_digest(emulator: Path, path: str) -> None:
    before = digest()
    (emulator / path).write_text((emulator / path).read_text() + "\n")
    assert digest() != before


def test_a_header_that_is_new_changes_the_digest(emulator: Path) -> None:
    before = digest()
    (emulator / "include" / "cub.h").touch()
    assert digest() != before


@pytest.mark.parametrize("path", ["runtime/scheduler.cpp", "report.py"])
def test_an_edit_of_what_runs_the_code_does_not(emulator: Path, path: str) -> None:
    before = digest()
    (emulator / path).write_text("// edited\n")
    assert digest() == before


def test_what_python_caches_beside_the_rewriting_does_not(emulator: Path) -> None:
    before = digest()
    (emulator / "rewrite" / "__pycache__").mkdir(exist_ok=True)
    (emulator / "rewrite" / "__pycache__" / "x.pyc").write_bytes(b"\0")
    assert digest() == before


def test_a_build_depends_on_versions_and_on_no_path() -> None:
    identity = of_family("gcc").identity()
    assert identity == {
        "cxx": "c++ 12",
        "CUDA headers": "13.0",
        "emulator": emulator_digest(),
    }


def test_the_compiler_is_run_by_this_python_behind_the_rewriting() -> None:
    command = of_family("gcc").kernel_command(["-DX"], checked=False)
    assert command[:5] == (sys.executable, str(toolchain.COMPILER), "/bin/c++", "-m64", "-DX")
    assert command[-3:-1] == ("-include", "fictl_emu/prelude.h")


@pytest.mark.parametrize(
    ("family", "always", "checked"),
    [
        ("gcc", "-fpermissive", "tsan-distinguish-volatile=1"),
        ("clang", "-fno-delayed-template-parsing", "-tsan-distinguish-volatile=1"),
    ],
)
def test_each_compiler_has_flags_of_its_own(family: str, always: str, checked: str) -> None:
    fast = of_family(family).kernel_command((), checked=False)
    slow = of_family(family).kernel_command((), checked=True)
    assert always in fast
    assert always in slow
    assert (checked in fast, checked in slow) == (False, True)


def test_without_headers_there_is_none(no_headers: None) -> None:
    assert current_toolchain() is None


def test_without_a_compiler_there_is_none(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "find_headers", lambda: HEADERS)
    assert current_toolchain() is None


def test_a_compiler_that_was_named_and_does_not_work_is_never_passed_over(monkeypatch) -> None:
    monkeypatch.setenv("CXX", "/nowhere/g++")
    monkeypatch.setattr(toolchain, "find_headers", lambda: HEADERS)
    with pytest.raises(SetupError, match="/nowhere/g"):
        current_toolchain()


def test_who_needs_it_is_told_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr("fictl.toolchain.headers.find_headers", lambda: None)
    with pytest.raises(SetupError, match="no CUDA headers") as caught:
        require_toolchain()
    assert "pip install nvidia-cuda-runtime" in caught.value.hint
