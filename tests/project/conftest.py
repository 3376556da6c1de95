"""A user's project in a temporary folder, whose ops keep every rule until a test edits one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fictl.project import OpFolder, Project

_FILES = {
    "kernels/include/{p}/{f}/{m}.cuh": "#pragma once\n#include <cuda_fp16.h>\n",
    "kernels/{f}/{m}/launcher.cu": "#include <binding/launch.h>\n#include <{p}/{f}/{m}.cuh>\n",
    "kernels/{f}/{m}/binding.cpp": (
        "#include <binding/ffi.h>\nTVM_FFI_DLL_EXPORT_TYPED_FUNC({m}, {m});\n"
    ),
    "kernels/{f}/{m}/jit.py": "def module(): ...\ndef aot(): yield module()\n",
    "kernels/{f}/{m}/op.py": (
        "import torch\n"
        "from fictl.op import KernelModule, op\n"
        "from .jit import module\n"
        "kernel = KernelModule(module)\n"
        '@op(archs=">=8.0", dtypes="f16 bf16", mutates="out")\n'
        "def {m}(input, factor, out=None):\n"
        '    """Multiply.\n\n    More."""\n'
        "    kernel.{m}(out, input, factor)\n"
    ),
    "kernels/{f}/{m}/trace.py": (
        "from fictl.trace import Scalar, Tensor, TraceTemplate, Var\n"
        '{m} = TraceTemplate(axes={{"n": Var("")}}, inputs={{"input": Tensor(("n",)), '
        '"factor": Scalar("float32")}}, outputs={{"out": Tensor(("n",))}}, reference=None)\n'
    ),
    "kernels/{f}/{m}/bench.py": "def cases(): yield 1\n",
    "tests/kernels/{f}/test_{m}.py": "def test_{m}(): ...\n",
}


@dataclass(frozen=True)
class Tree:
    """The project's folder, and how tests change it."""

    root: Path

    @property
    def project(self) -> Project:
        project = Project.of(self.root)
        assert project is not None
        return project

    def write(self, path: str, text: str) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def edit(self, path: str, old: str, new: str) -> Path:
        text = (self.root / path).read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}"
        return self.write(path, text.replace(old, new))

    def op(self, family: str, module: str) -> OpFolder:
        for path, text in _FILES.items():
            names = {"p": "my_kernels", "f": family, "m": module}
            self.write(path.format(**names), text.format(**names))
        return OpFolder(self.project, family, module)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tree]:
    """`my_kernels` with the op elementwise/halve, and the working folder inside it."""
    made = Tree(tmp_path / "repo")
    made.write("fictl.toml", 'name = "my_kernels"\n')
    made.op("elementwise", "halve")
    monkeypatch.chdir(made.root)
    yield made
    for name in [name for name in sys.modules if name.split(".")[0] == "my_kernels"]:
        del sys.modules[name]
