from __future__ import annotations

import pytest

from fictl.project import OpFolder
from fictl.project.check import includes

_OP = "kernels/elementwise/halve"
_HEADER = "kernels/include/my_kernels/elementwise/halve.cuh"


@pytest.mark.parametrize(
    "operand",
    ["<torch/all.h>", "<ATen/ATen.h>", "<tvm/ffi/x.h>", "<dlpack/dlpack.h>", '"../binding/ffi.h"'],
)
def test_a_header_is_pure(tree, problems, operand: str) -> None:
    tree.write(_HEADER, f"#pragma once\n#include {operand}\n")
    assert f"pure {_HEADER}:2 the library includes {operand}" in problems()


def test_a_header_that_belongs_to_no_op_is_pure_too(tree, problems) -> None:
    path = "kernels/include/my_kernels/device/vec.cuh"
    tree.write(path, "#include <torch/all.h>\n")
    assert problems() == [f"pure {path}:1 the library includes <torch/all.h>"]


@pytest.mark.parametrize(
    "name",
    [
        "cub/block/block_reduce.cuh",
        "cooperative_groups.h",
        "cooperative_groups/reduce.h",
        "cuda/std/array",
        "cuda/barrier",
        "cute/tensor.hpp",
        "cutlass/cutlass.h",
    ],
)
def test_a_heavy_header_is_declared(tree, problems, name: str) -> None:
    tree.write(_HEADER, f"#include <{name}>\n")
    said = f"heavy {_HEADER}:1 my_kernels/elementwise/halve includes <{name}>"
    assert problems() == [said]


@pytest.mark.parametrize(
    "jit",
    ['heavy_headers = ("cub",)', 'x = spec(__file__, heavy_headers=("cute", "cub/block"))'],
)
def test_a_heavy_header_that_is_declared_is_fine(tree, problems, jit: str) -> None:
    tree.write(_HEADER, "#include <cub/block/block_reduce.cuh>\n")
    tree.edit(f"{_OP}/jit.py", "def module", f"{jit}\ndef module")
    assert problems() == []


def test_a_heavy_header_is_found_behind_another(tree, problems) -> None:
    shared = "kernels/include/my_kernels/device/tile.cuh"
    tree.write(shared, "#include <cute/tensor.hpp>\n")
    tree.write(_HEADER, "#include <my_kernels/device/tile.cuh>\n")
    assert problems() == [
        f"heavy {shared}:1 my_kernels/elementwise/halve includes <cute/tensor.hpp>"
    ]


@pytest.mark.parametrize("operand", ["<tvm/ffi/function.h>", "<binding/ffi.h>"])
@pytest.mark.parametrize("file", ["launcher.cu", "shapes.h"])
def test_only_the_binding_knows_tvm(tree, problems, file: str, operand: str) -> None:
    tree.write(f"{_OP}/{file}", f"#include {operand}\n")
    assert problems() == [f"tvm {_OP}/{file}:1 {operand} in {file}"]


@pytest.mark.parametrize("path", [_HEADER, f"{_OP}/launcher.cu"])
def test_a_computed_include_is_refused(tree, problems, path: str) -> None:
    tree.write(path, "#include WHICH\n")
    assert problems() == [f"computed-include {path}:1 #include WHICH"]


def test_chevrons_are_a_users_own_choice(tree, problems) -> None:
    tree.write(f"{_OP}/launcher.cu", "kernel<<<1, 32>>>(x);\n")
    assert problems() == []


def test_chevrons_are_refused_in_ours(tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write(_HEADER, "\nkernel<<<1, 32>>>(x);\n")
    monkeypatch.setattr("fictl.project.project.data_root", lambda name: tree.root)
    folder = OpFolder(tree.project, "elementwise", "halve")
    found = includes.launches_go_through_the_library(folder)
    assert [(problem.path, problem.line) for problem in found] == [(tree.root / _HEADER, 2)]
