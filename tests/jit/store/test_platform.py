"""Platforms: how they are written, and measured in real libraries."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fictl.jit.store.platform import Platform, measured
from fictl.jit.store.this_platform import here, unfit

_ASKS_FOR_MUCH = """
#include <cstdio>
#include <string>
#include <stdexcept>
extern "C" int weigh(int n) {
  if (n < 0) throw std::runtime_error(std::to_string(n));
  return std::printf("%d", n);
}
"""


@pytest.mark.parametrize(
    ("text", "libc", "general"),
    [
        ("x86_64-linux-glibc2.34", "glibc", "x86_64-linux-glibc"),
        ("x86_64-linux-glibc2.34-glibcxx3.4.26-cxxabi1.3.9", "glibc", "x86_64-linux-glibc"),
        ("aarch64-linux-musl", "musl", "aarch64-linux-musl"),
        ("riscv64-linux", "", "riscv64-linux"),
    ],
)
def test_a_platform_is_read_as_it_is_written(text, libc, general):
    platform = Platform.parse(text)
    assert (str(platform), platform.libc, platform.general) == (text, libc, general)


def test_floors_are_numbers():
    platform = Platform.parse("x86_64-linux-glibc2.34-glibcxx3.4.9")
    assert platform.floor("glibc") == (2, 34)
    assert platform.floor("glibcxx") == (3, 4, 9)
    assert platform.floor("cxxabi") is None
    assert Platform.parse("x86_64-linux-glibc").floor("glibc") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x86_64",
        "x86_64-",
        "-linux",
        "x86_64-linux-",
        "x86_64-linux-glibc2.",
        "a-b-2.1",
        "../-x",
    ],
)
def test_other_texts_are_no_platforms(text):
    with pytest.raises(ValueError, match="is not a platform"):
        Platform.parse(text)


def test_a_library_is_measured(tmp_path: Path):
    source, library = tmp_path / "weigh.cpp", tmp_path / "weigh.so"
    source.write_text(_ASKS_FOR_MUCH)
    subprocess.run(["g++", "-shared", "-fPIC", source, "-o", library], check=True)
    platform = measured(library)
    assert platform is not None
    assert platform.general == here().general
    assert platform.floor("glibc") is not None
    assert platform.floor("glibcxx") >= (3, 4, 21)  # std::__cxx11::string
    assert not unfit(str(platform))


@pytest.mark.parametrize("data", [b"", b"code", b"\x7fELF", b"\x7fELF\x02\x01\x01" + b"\xff" * 99])
def test_a_file_that_is_no_library_has_no_platform(tmp_path: Path, data):
    (tmp_path / "module.so").write_bytes(data)
    assert measured(tmp_path / "module.so") is None


def test_a_damaged_library_never_raises(tmp_path: Path):
    """Every 64th byte of the tables is changed, one after another."""
    binary = bytearray(Path(sys.executable).resolve().read_bytes()[:1024])
    path = tmp_path / "module.so"
    for place in range(5, len(binary), 64):
        damaged = bytearray(binary)
        damaged[place] ^= 0xFF
        path.write_bytes(bytes(damaged))
        measured(path)
