"""`tiny`, in which an op `sum_twice` uses `twice` in every way, and a README speaks of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.project import OpFolder, Project

USER = {
    "kernels/elementwise/sum_twice/op.py": '''\
"""sum_twice: adds up what twice makes."""

from fictl.op import KernelModule, op
from tiny.ops import twice

from ..twice.op import twice as again
from .jit import module

kernel = KernelModule(module)


@op(archs=">=8.0", dtypes="i32", devices="cuda emu", mutates="", uses="twice")
def sum_twice(input: int, twice_as_often: int = 1) -> int:
    """twice(input) + twice(input)."""
    return int(kernel.sum_twice(twice(input), again(input, twice=2), twice_as_often))
''',
    "kernels/elementwise/sum_twice/jit.py": "def module(): ...\ndef aot():\n    yield module()\n",
    "kernels/elementwise/sum_twice/trace.py": (
        "from fictl.trace import Scalar, TraceTemplate\n"
        'sum_twice = TraceTemplate(axes={}, inputs={"input": Scalar("int32"), '
        '"twice_as_often": Scalar("int32")}, outputs={}, reference=None)\n'
    ),
    "kernels/elementwise/sum_twice/bench.py": "def cases():\n    yield 1\n",
    "kernels/elementwise/sum_twice/launcher.cu": (
        "#include <tiny/elementwise/sum_twice.cuh>\n#include <tiny/elementwise/twice.cuh>\n"
        "// twice is wanted\n"
        "namespace tiny::elementwise {\n"
        "int sum_twice(int twice) { return twice + elementwise::Twice(twice); }\n}\n"
    ),
    "kernels/elementwise/sum_twice/binding.cpp": (
        "TVM_FFI_DLL_EXPORT_TYPED_FUNC(sum_twice, tiny::elementwise::sum_twice)\n"
    ),
    "kernels/include/tiny/elementwise/sum_twice.cuh": "// Twice and twice.\n#pragma once\n",
    "tests/kernels/elementwise/test_sum_twice.py": "def test_it(): ...\n",
    "README.md": "# tiny\n\nCall twice, or elementwise/twice.\nNot twicer.\n",
}


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def twice(tiny: Path) -> OpFolder:
    return OpFolder(Project.at(tiny), "elementwise", "twice")


@pytest.fixture
def used(twice: OpFolder) -> OpFolder:
    """The op `twice` in a project whose op `sum_twice` uses it."""
    write(twice.project.root, USER)
    return twice
