"""The compiler as ninja runs it: a program that preprocesses, rewrites and compiles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fictl.emu.toolchain import COMPILER
from fictl.toolchain import find_cxx


@pytest.fixture
def compile_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Compile a text, from an empty folder and without fictl on Python's path."""
    monkeypatch.delenv("PYTHONPATH", raising=False)

    def run(text: str, *flags: str) -> tuple[subprocess.CompletedProcess[str], Path]:
        source, output = tmp_path / "unit.cu", tmp_path / "unit.o"
        source.write_text(text)
        argv = [sys.executable, COMPILER, find_cxx().ccbin, "-std=c++17", f"-I{tmp_path}", *flags]
        argv += ["-c", source, "-o", output]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
        return done, output

    return run


def test_plain_cxx_passes_through(compile_unit) -> None:
    done, output = compile_unit("int Answer() { return 42; }\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert output.is_file()


def test_what_is_included_before_the_unit_is_compiled_once(compile_unit, tmp_path: Path) -> None:
    (tmp_path / "before.h").write_text("struct Unguarded { int n; };\n")
    done, _ = compile_unit("Unguarded one;\n", "-include", "before.h")
    assert done.returncode == 0, done.stderr


def test_flags_count_before_and_after_the_rewriting(compile_unit) -> None:
    done, _ = compile_unit(
        "int n = COUNT;\n[[nodiscard]] int F();\nvoid G() { F(); }\n", "-DCOUNT=3", "-Werror"
    )
    assert done.returncode != 0
    assert "unused-result" in done.stderr


def test_what_the_preprocessor_cannot_do_is_its_own_error(compile_unit) -> None:
    done, output = compile_unit('#include "nowhere.h"\n')
    assert done.returncode != 0
    assert "unit.cu:1" in done.stderr
    assert "nowhere.h" in done.stderr
    assert not output.exists()


def test_an_error_of_the_compiler_names_the_line_of_the_source(compile_unit) -> None:
    done, _ = compile_unit("#define TWO \\\n  2\nint a = TWO;\nint b = unknown;\n")
    assert done.returncode != 0
    assert "unit.cu:4" in done.stderr
    assert "unknown" in done.stderr


def test_code_that_cannot_be_rewritten_is_named_by_its_line_without_a_traceback(
    compile_unit,
) -> None:
    done, output = compile_unit("void K(int);\n\nvoid F() { K<<<1, 2>(3); }\n")
    assert done.returncode != 0
    assert "unit.cu:3" in done.stderr
    assert "Traceback" not in done.stderr
    assert not output.exists()


def test_text_that_is_no_unicode_is_compiled_as_it_is(compile_unit, tmp_path: Path) -> None:
    (tmp_path / "latin.h").write_bytes(b'const char text[] = "\xe9";\n')
    done, output = compile_unit('#include "latin.h"\nconst char* Text() { return text; }\n')
    assert done.returncode == 0, done.stderr
    assert b"\xe9" in output.read_bytes()


def test_a_launch_becomes_a_call_into_the_emulator(compile_unit) -> None:
    # Which is missing here: the prelude declares it.
    done, _ = compile_unit("void K(int);\nvoid F() { K<<<1, 2>>>(3); }\n")
    assert done.returncode != 0
    assert "fictl_emu" in done.stderr
