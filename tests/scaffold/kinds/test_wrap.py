"""Lines are broken as ruff and clang-format break them, whatever the lengths."""

from __future__ import annotations

import subprocess
from shutil import which

import pytest

from fictl.scaffold.kinds.wrap import cpp, cpp_dispatch, cpp_function, py, py_literal, py_value

LENGTHS = (1, 5, 9, 14, 22, 30)
STYLE = (
    "{BasedOnStyle: Google, ColumnLimit: 100, DerivePointerAlignment: false, "
    "PointerAlignment: Left}"
)


def _same_after(argv: list[str], text: str) -> None:
    done = subprocess.run(argv, input=text, capture_output=True, text=True, check=True)
    assert done.stdout == text


def _ruff(text: str) -> None:
    if not which("ruff"):
        pytest.skip("needs ruff on the PATH")
    _same_after(["ruff", "format", "--isolated", "--line-length=100", "-"], text)


def _clang_format(text: str) -> None:
    if not which("clang-format"):
        pytest.skip("needs clang-format on the PATH")
    _same_after(["clang-format", f"--style={STYLE}", "--assume-filename=x.cu"], text)


def _names(length: int, count: int = 4) -> list[str]:
    return [f"{'abcdefgh'[n]}{'x' * (length - 1)}" for n in range(count)]


@pytest.mark.parametrize("length", LENGTHS)
def test_parameters_in_python(length: int) -> None:
    items = [f"{name}: torch.Tensor" for name in _names(length)]
    _ruff(py("def function(", items, ") -> None:") + "\n    pass\n")


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("count", [1, 2, 6])
def test_tuples_in_python(length: int, count: int) -> None:
    _ruff(py_literal("NAMES = (", _names(length, count), ")") + "\n")


@pytest.mark.parametrize("length", LENGTHS)
def test_a_value_in_python(length: int) -> None:
    text = " * ".join(_names(length, 6))
    _ruff(f"def function():\n{py_value('    return ', text)}\n")


@pytest.mark.parametrize("length", LENGTHS)
def test_parameters_in_cpp(length: int) -> None:
    items = [f"View {name}" for name in _names(length)]
    _clang_format(cpp("void function(", items, ");") + "\n")


@pytest.mark.parametrize("length", LENGTHS)
def test_a_short_function_in_cpp(length: int) -> None:
    names = _names(length, 3)
    items = [f"float {name}" for name in names]
    _clang_format(cpp_function("float f(", items, f"return {' * '.join(names)};") + "\n")


@pytest.mark.parametrize("count", [1, 3, 11])
def test_a_dispatch_over_dtypes(count: int) -> None:
    types = ["__half", "__nv_bfloat16", "float", "double", "int8_t", "uint8_t", "int32_t"] * 2
    items = ["out.data<T>()", "x.data<const T>()", "shape", "launch.stream", "launch.pdl"]
    text = cpp_dispatch("input", types[:count], "CUDA_CHECK(launch, Scale(", items, "));")
    _clang_format(f"void f() {{\n{text}\n}}\n")
