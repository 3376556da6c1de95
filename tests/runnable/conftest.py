"""A definition of `x * s`, and solutions of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fictl
from fictl import log
from fictl.runnable import registry
from fictl.trace import Definition, Solution

# Of TVM-FFI without its C++: it compiles in a tenth of a second.
_EXPORT = """
#include <tvm/ffi/c_api.h>
extern "C" __attribute__((visibility("default"))) int __tvm_ffi_{name}(
    void*, const TVMFFIAny* args, int32_t, TVMFFIAny* result) {{
  result->type_index = kTVMFFIInt;
  result->v_int64 = args[0].v_int64 * {factor};
  return 0;
}}
"""
# Why without these: tvm_ffi imports them where it can, which takes longer than a build here.
_QUICKLY = (
    "import sys; sys.modules.update(dict.fromkeys(['torch', 'numpy', 'ml_dtypes', 'cuda']))\n"
)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No FIB_CACHE_PATH of the user, and a registry of this test."""
    monkeypatch.delenv("FIB_CACHE_PATH", raising=False)
    monkeypatch.setattr(registry.BuilderRegistry, "_instance", None)
    log.warn_once.cache_clear()
    yield
    made = registry.BuilderRegistry._instance
    if made is not None:
        made.cleanup()


@pytest.fixture
def definition() -> Definition:
    return define({"x": ["n"], "s": None}, {"y": ["n"]})


@pytest.fixture
def defined() -> Callable[..., Definition]:
    return define


def define(inputs: dict[str, Any], outputs: dict[str, Any], **axes: Any) -> Definition:
    """Of float32; axes are variable but for those given."""
    names = [axis for shape in (*inputs.values(), *outputs.values()) for axis in shape or ()]

    def spec(shapes: dict[str, Any]) -> dict[str, Any]:
        return {name: {"shape": shape, "dtype": "float32"} for name, shape in shapes.items()}

    return Definition.model_validate(
        {
            "name": "scaled",
            "op_type": "scaled",
            "inputs": spec(inputs),
            "outputs": spec(outputs),
            "axes": {**{n: {"type": "var"} for n in names}, **axes},
            "reference": "import torch\ndef run(x, s):\n    return x * s\n",
        }
    )


@pytest.fixture
def solution() -> Callable[..., Solution]:
    """From files by path, or from the text of main.py."""

    def make(
        files: str | dict[str, str],
        language: str = "python",
        entry: str = "main.py::run",
        dps: bool = False,
        name: str = "answer",
        **spec: Any,
    ) -> Solution:
        sources = {"main.py": files} if isinstance(files, str) else files
        document = {
            "name": name,
            "definition": "scaled",
            "author": "me",
            "spec": {
                "language": language,
                "target_hardware": ["cuda"],
                "entry_point": entry,
                "destination_passing_style": dps,
                **spec,
            },
            "sources": [{"path": path, "content": text} for path, text in sources.items()],
        }
        return Solution.model_validate(document)

    return make


@pytest.fixture
def exporting(solution: Callable[..., Solution]) -> Callable[..., Solution]:
    """A solution in C++ whose `run` multiplies a whole number by `factor`."""

    def make(factor: object = 2, name: str = "run", **options: Any) -> Solution:
        files = {"main.cpp": _EXPORT.format(name=name, factor=factor)}
        return solution(files, "cpp", "main.cpp::run", **options)

    return make


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where builders keep what they write in this test."""
    folder = tmp_path / "kept"
    monkeypatch.setenv("FICTL_CACHE_PATH", str(folder))
    return folder


@pytest.fixture
def python() -> Callable[[str], subprocess.Popen[str]]:
    """A fresh interpreter without torch that runs a script."""

    def start(code: str) -> subprocess.Popen[str]:
        root = str(Path(fictl.__file__).parents[1])
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *sys.path])}
        return subprocess.Popen(
            [sys.executable, "-c", _QUICKLY + code],
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    return start
