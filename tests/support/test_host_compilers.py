"""Host compilers: those found here build and load a module, and the page says what the code asks for."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from fictl.jit.module_spec import _ANY
from fictl.paths import PACKAGE
from fictl.toolchain import hostcxx, nvcc

_CALL = """import sys
sys.modules["torch"] = None
from fictl.project import mount
mount()
import tiny
print(tiny.ops.twice(21))
"""


def _installed() -> list[str]:
    """g++, g++-12 and so on: each program once, whatever its names."""
    found: dict[Path, str] = {}
    for folder in ("/usr/bin", "/usr/local/bin"):
        for path in sorted(Path(folder).glob("*++*")):
            if re.fullmatch(r"(g|clang)\+\+(-\d+)?", path.name):
                found.setdefault(path.resolve(), str(path))
    return list(found.values())


@pytest.mark.needs_nvcc
@pytest.mark.parametrize("cxx", _installed() or [""])
def test_each_compiler_here_builds_with_the_real_nvcc(tiny, run, cxx):
    if not cxx:
        pytest.skip("there is no g++ and no clang++ here")
    answer = run(sys.executable, "-c", _CALL, CXX=cxx)
    if "unsupported GNU version" in answer.stderr or "unsupported clang version" in answer.stderr:
        pytest.skip(f"nvcc says that {cxx} is too new")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == "42\n"


def test_the_compilers_of_the_page_are_looked_for(page):
    assert {row[0] for row in page["compiler"]} <= set(hostcxx._NAMES)


def test_the_floors_of_the_page_are_those_of_the_code(page):
    metadata = (PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8")
    python = re.search(r'requires-python = ">=([\d.]+)"', metadata)
    assert {row[0]: row[1] for row in page["what"]} == {
        "CUDA toolkit": ".".join(map(str, nvcc._FLOOR)),
        "GPU": str(_ANY.clauses[0].low),
        "GCC": str(hostcxx._FLOORS["gcc"]),
        "Clang": str(hostcxx._FLOORS["clang"]),
        "Python": python[1],
    }
