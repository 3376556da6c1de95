from __future__ import annotations

import dataclasses

import pytest

from fictl.project import Project
from fictl.project.check import check_project, layout

_OP = "kernels/elementwise/halve"


@pytest.mark.parametrize(
    "path",
    [
        "kernels/include/my_kernels/elementwise/halve.cuh", f"{_OP}/launcher.cu",
        f"{_OP}/binding.cpp", f"{_OP}/jit.py", f"{_OP}/trace.py", f"{_OP}/bench.py",
        "tests/kernels/elementwise/test_halve.py",
    ],
)  # fmt: skip
def test_a_missing_file_is_named(tree, problems, path: str) -> None:
    (tree.root / path).unlink()
    name = path.rpartition("/")[2]
    assert problems() == [f"files {path}:1 my_kernels/elementwise/halve lacks {name}"]


def test_launchers_of_backends_are_launchers(tree, problems) -> None:
    launcher = tree.root / _OP / "launcher.cu"
    launcher.rename(launcher.with_name("launcher_sm90.cu"))
    assert problems() == []


def test_a_wheel_carries_our_kernels_without_their_tests(tmp_path, monkeypatch) -> None:
    wheel = dataclasses.replace(Project.shipped(), tests=tmp_path / "nowhere")
    assert [problem for problem in check_project(wheel) if problem.rule == "files"] == []


@pytest.mark.parametrize("name", ["fast-halve", "2x", "lambda"])
def test_a_folder_that_cannot_be_imported_is_refused(tree, problems, name: str) -> None:
    tree.write(f"kernels/elementwise/{name}/op.py", "")
    assert f"names {_OP[:-5]}{name}/op.py:1 folder {name!r} cannot be imported" in problems()


def test_the_facades_name_cannot_be_a_family(tree) -> None:
    folder = tree.op("ops", "halved")
    assert [problem.message for problem in layout.names_are_importable(folder)] == [
        "'ops' cannot be a family: it means something else"
    ]


@pytest.mark.parametrize(
    ("file", "text", "missing"),
    [
        ("jit.py", "def module(): ...\n", "aot"),
        ("jit.py", "def aot(): ...\n", "module"),
        ("bench.py", "case = 1\n", "cases"),
    ],
)
def test_each_python_file_defines_its_part(
    tree, problems, file: str, text: str, missing: str
) -> None:
    tree.write(f"{_OP}/{file}", text)
    assert problems() == [f"defines {_OP}/{file}:1 {file} defines no {missing}"]


def test_an_op_file_that_declares_nothing_is_a_problem(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", '@op(archs=">=8.0", dtypes="f16 bf16", mutates="out")\n', "")
    assert problems() == [f"defines {_OP}/op.py:1 op.py declares no op"]


def test_kernels_is_no_package(tree, problems) -> None:
    tree.write("kernels/__init__.py", "")
    assert problems() == ["no-init kernels/__init__.py:1 kernels/ is not a Python package"]
