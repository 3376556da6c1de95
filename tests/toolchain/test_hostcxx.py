from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.toolchain import find_cxx

GCC = "{name} (Debian 12.2.0-14) {version}\nCopyright (C) 2022 Free Software Foundation, Inc."
CLANG = "Debian clang version {version}\nTarget: x86_64-pc-linux-gnu"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH besides the shell's own."""
    found = tmp_path / "bin"
    found.mkdir()
    for tool in ("sh", "echo"):
        (found / tool).symlink_to(str(shutil.which(tool)))
    monkeypatch.setenv("PATH", str(found))
    return found


def compiler(folder: Path, name: str, text: str, version: str = "12.2.0") -> Path:
    said = shlex.quote(text.format(name=name, version=version))
    script = f'#!/bin/sh\ncase "$*" in *-dumpmachine) echo some-triple;; *) echo {said};; esac\n'
    file = folder / name
    file.write_text(script)
    file.chmod(0o755)
    return file


def test_gxx_comes_before_clang(folder):
    compiler(folder, "clang++", CLANG)
    compiler(folder, "g++", GCC)
    assert find_cxx().family == "gcc"


def test_clang_is_found_where_there_is_no_gcc(folder):
    compiler(folder, "clang++", CLANG, "14.0.6")
    found = find_cxx()
    assert (found.family, found.version) == ("clang", (14, 0, 6))
    assert found.identity == "Debian clang version 14.0.6 some-triple"


def test_the_identity_does_not_depend_on_the_name(folder, monkeypatch):
    compiler(folder, "g++", GCC)
    identity = find_cxx().identity
    compiler(folder, "x86_64-linux-gnu-g++-12", GCC)
    monkeypatch.setenv("CXX", "x86_64-linux-gnu-g++-12")
    assert find_cxx().identity == identity == "g++ (Debian 12.2.0-14) 12.2.0 some-triple"


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("g++ (GCC) 13.2.1 20231205 (Red Hat 13.2.1-6)", (13, 2, 1)),
        ("g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", (11, 4, 0)),
        ("x86_64-conda-linux-gnu-c++ (conda-forge gcc 12.3.0-5) 12.3.0", (12, 3, 0)),
        ("Apple clang version 15.0.0 (clang-1500.1.0.2.5)", (15, 0, 0)),
    ],
)
def test_the_version_is_read_from_every_vendors_line(folder, line, version):
    compiler(folder, "g++", line)
    assert find_cxx().version == version


def test_a_gcc_below_the_floor_is_refused_in_words(folder, monkeypatch):
    compiler(folder, "old", "g++ (GCC) {version}", "8.5.0")
    monkeypatch.setenv("CXX", "old")
    with pytest.raises(SetupError, match=r"old is gcc 8\.5\.0: 9 or newer is needed"):
        find_cxx()


def test_a_clang_below_the_floor_is_passed_over(folder):
    compiler(folder, "c++", CLANG, "9.0.1")
    compiler(folder, "clang++", CLANG, "10.0.0")
    assert find_cxx().version == (10, 0, 0)


def test_where_none_is_usable_every_reason_is_given(folder):
    compiler(folder, "g++", "g++ (GCC) {version}", "8.5.0")
    compiler(folder, "c++", "nvc++ 24.5-1")
    with pytest.raises(SetupError) as caught:
        find_cxx()
    text = str(caught.value)
    assert "g++ is gcc 8.5.0" in text
    assert "neither GCC nor Clang: it says 'nvc++ 24.5-1'" in text
    assert "clang++ is not on PATH" in text
    assert "CXX" in caught.value.hint


def test_a_chosen_compiler_that_does_not_exist_is_an_error_although_another_would_do(
    folder, monkeypatch
):
    compiler(folder, "g++", GCC)
    monkeypatch.setenv("CXX", "g++-99")
    with pytest.raises(SetupError, match=r"g\+\+-99 is not on PATH"):
        find_cxx()


def test_a_launcher_and_flags_stay_in_argv_but_not_in_ccbin(folder, monkeypatch):
    (folder / "ccache").write_text('#!/bin/sh\nexec "$@"\n')
    (folder / "ccache").chmod(0o755)
    compiler(folder, "g++", GCC)
    monkeypatch.setenv("CXX", "ccache g++ -m64")
    found = find_cxx()
    assert found.argv == (str(folder / "ccache"), str(folder / "g++"), "-m64")
    assert found.ccbin == str(folder / "g++")


def test_flags_in_cxx_are_part_of_the_identity_because_they_change_the_code(folder, monkeypatch):
    compiler(folder, "g++", GCC)
    monkeypatch.setenv("CXX", "g++ -m32")
    assert find_cxx().identity == "g++ (Debian 12.2.0-14) 12.2.0 some-triple -m32"


def test_flags_alone_name_no_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "-m64")
    with pytest.raises(SetupError, match="names no compiler"):
        find_cxx()


def test_a_change_of_cxx_is_seen_in_the_same_process(folder, monkeypatch):
    compiler(folder, "g++", GCC)
    compiler(folder, "clang++", CLANG)
    assert find_cxx().family == "gcc"
    monkeypatch.setenv("CXX", "clang++")
    assert find_cxx().family == "clang"


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
def test_the_real_compiler_agrees_with_its_own_macros():
    found = find_cxx()
    macros = subprocess.run(
        [*found.argv, "-dM", "-E", "-x", "c++", os.devnull],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    name = "__GNUC__" if found.family == "gcc" else "__clang_major__"
    assert f"#define {name} {found.version[0]}\n" in macros
