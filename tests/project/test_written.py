"""What an exported function writes is what the functions that call it say, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.project.written import written_by

HEAD = "from fictl.op import KernelModule, op\nkernel = KernelModule(module)\n"
NORM = """
@op(archs=">=8.0", dtypes="f16", mutates="out")
def norm(input, weight, out=None):
    kernel.norm(out, input, weight)
"""
ADD = """
@op(archs=">=8.0", dtypes="f16", mutates="input residual")
def add_norm(input, residual, weight):
    kernel.add_norm(input, residual, weight)
"""


@pytest.fixture
def written(tmp_path: Path):
    """Of an export with these parameters, called in an op.py of this text."""

    def read(text: str, export: str, parameters: str) -> list[str]:
        path = tmp_path / "op.py"
        path.write_text(HEAD + text, encoding="utf-8")
        return sorted(written_by(path, export, parameters.split()))

    return read


@pytest.mark.parametrize("text", [NORM + ADD, ADD + NORM])
def test_one_function_of_a_file_does_not_excuse_another(written, text: str) -> None:
    assert written(text, "norm", "out input weight") == ["out"]
    assert written(text, "add_norm", "input residual weight") == ["input", "residual"]


def test_a_class_calls_as_a_function_does(written) -> None:
    text = ADD + (
        "class Sum:\n"
        "    def plan(self, input):\n        self._module = kernel[input.dtype]\n"
        '    @op(archs="8.0", dtypes="f16", mutates="out")\n'
        "    def run(self, input, out=None):\n        self._module.total(out, input)\n"
    )
    assert written(text, "total", "out input") == ["out"]


def test_a_private_function_of_the_file_calls_for_those_that_call_it(written) -> None:
    text = NORM + ADD.replace("kernel.add_norm(input, residual, weight)", "_both(input, residual)")
    text += "def _both(x, y): _first(x, y)\ndef _first(x, y): kernel[x.dtype].sum_of(x, y)\n"
    assert written(text, "sum_of", "input residual") == ["input", "residual"]
    assert written(text, "norm", "out input weight") == ["out"]


def test_who_calls_a_public_function_does_not_speak_for_its_kernel(written) -> None:
    text = ADD + (
        '@op(archs="8.0", dtypes="f16", mutates="", uses="add_norm")\n'
        "def added(input, residual, weight):\n"
        "    copies = input.clone(), residual.clone()\n"
        "    add_norm(*copies, weight)\n"
        "    return copies\n"
    )
    assert written(text, "add_norm", "input residual weight") == ["input", "residual"]


def test_of_two_that_share_a_kernel_the_one_that_only_reads_an_argument_is_right(written) -> None:
    text = NORM + (
        '@op(archs="8.0", dtypes="f16", mutates="input")\n'
        "def norm_(input, weight):\n    kernel.norm(input, input, weight)\n"
    )
    assert written(text, "norm", "out input weight") == ["out"]


def test_a_copy_under_the_arguments_name_says_nothing_of_the_argument(written) -> None:
    text = ADD + (
        '@op(archs="8.0", dtypes="f16", mutates="")\n'
        "def added(input, residual, weight):\n"
        "    input, residual = input.clone(), residual.clone()\n"
        "    kernel.add_norm(input, residual, weight)\n"
        "    return input, residual\n"
    )
    assert written(text, "add_norm", "input residual weight") == ["input", "residual"]


def test_places_after_what_is_unpacked_are_not_known(written) -> None:
    text = NORM.replace("kernel.norm(out, input", "kernel.norm(*_room(out), input") + ADD.replace(
        "kernel.add_norm(", "kernel.norm("
    )
    assert written(text, "norm", "out input weight") == ["input", "out", "residual"]


@pytest.mark.parametrize(
    ("export", "expected"), [("norm", ["out"]), ("attend", ["input", "out", "residual"])]
)
def test_a_call_from_another_file_is_of_the_function_called_so_or_of_any(
    written, export: str, expected: list[str]
) -> None:
    text = NORM.replace("kernel.norm(", "launch(kernel, ") + ADD
    assert written(text, export, "") == expected
