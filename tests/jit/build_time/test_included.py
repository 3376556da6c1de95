"""Headers and their lines from preprocessed text."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fictl.jit.build_time.included import includes
from fictl.toolchain import find_cxx

UNIT, OURS = Path("/op/a.cu"), Path("/inc/ours.h")

_TEXT = b"""# 0 "/op/a.cu"
# 0 "<built-in>"
# 0 "<command-line>"
# 1 "/cuda/include/cuda_runtime.h" 1
int runtime;
# 1 "/cuda/include/inner.h" 1 3 4
int inner;

# 2 "/cuda/include/cuda_runtime.h" 2
int more;
# 0 "<command-line>" 2
# 1 "/op/a.cu"
# 1 "/inc/ours.h" 1
int ours;
# 1 "/usr/include/c++/12/vector" 1 3
int vector;
int vector_too;
# 2 "/inc/ours.h" 2
# 2 "/op/a.cu" 2
int unit;
"""


def test_a_header_counts_with_all_that_it_includes() -> None:
    found = {each.path.name: each.lines for each in includes(_TEXT, {UNIT, OURS})}
    assert found == {"cuda_runtime.h": 3, "ours.h": 3, "vector": 2}


def test_who_includes_a_header_is_known() -> None:
    found = {each.path.name: each.includer for each in includes(_TEXT, {UNIT, OURS})}
    assert found == {"cuda_runtime.h": None, "ours.h": UNIT, "vector": OURS}


def test_what_others_headers_include_is_theirs() -> None:
    found = {each.path.name for each in includes(_TEXT, {UNIT})}
    assert found == {"cuda_runtime.h", "ours.h"}


def test_a_header_that_includes_itself_counts_once() -> None:
    text = b'# 1 "/a.cpp"\n# 1 "/x.h" 1\nint a;\n# 1 "/x.h" 1\nint b;\n# 2 "/x.h" 2\n'
    (found,) = includes(text, {Path("/a.cpp")})
    assert found.lines == 2


def test_clangs_pseudo_files_are_no_headers() -> None:
    text = b'# 1 "/a.cpp"\n# 1 "<built-in>" 1\nint a;\n# 1 "/a.cpp" 2\nint b;\n'
    assert includes(text, {Path("/a.cpp")}) == []


@pytest.mark.parametrize("text", [b"", b"int a;\n", b'# 1 "/a.cpp" 2\n', b'# 1 "unfinished\n'])
def test_text_without_an_include_has_no_headers(text: bytes) -> None:
    assert includes(text, {Path("/a.cpp")}) == []


@pytest.mark.parametrize("name", ["plain.h", "with space.h", "größe.h", 'a"b.h'])
def test_a_real_preprocessor_is_understood_whatever_the_name(tmp_path: Path, name: str) -> None:
    header, unit = tmp_path / name, tmp_path / "unit.cpp"
    header.write_text("int a;\nint b;\n", encoding="utf-8")
    unit.write_text(f"#include <{name}>\n", encoding="utf-8")
    argv = [*find_cxx().argv, f"-I{tmp_path}", "-E", str(unit)]
    text = subprocess.run(argv, capture_output=True, check=True).stdout
    (found,) = includes(text, {unit})
    assert (found.path, found.includer, found.lines) == (header, unit, 2)
