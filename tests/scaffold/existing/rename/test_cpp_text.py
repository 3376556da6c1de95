from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.scaffold.existing.rename.cpp_text import CppNames
from fictl.scaffold.existing.rename.renaming import Renaming

_HEADER = """\
// twice: doubles, in the manner of torch.twice.
#include <tiny/device/vec.cuh>
namespace tiny::elementwise {
constexpr int kTwiceThreads = 256;
struct TwiceShape { int64_t rows; };
__device__ inline int twice_value(int x) { return x + device::twice_add(x); }
__global__ void TwiceKernel(TwiceShape shape) { device::Twice(shape.rows, twice_pair(1)); }
cudaError_t Twice(int* x, const TwiceShape& shape) { return cudaSuccess; }
}  // namespace tiny::elementwise
"""
_SHARED = "#pragma once\nstruct Twice {};\nint twice_pair(int x);\n"


@pytest.fixture
def names(twice) -> CppNames:
    """Of an op whose header uses another that has names like it."""
    twice.header.write_text(_HEADER)
    shared = twice.project.include / "tiny/device/vec.cuh"
    shared.parent.mkdir()
    shared.write_text(_SHARED)
    after = replace(twice, module="thrice", family="math")
    return CppNames(Renaming(twice, after), (twice.header, *twice.launchers, twice.binding))


def test_all_that_carries_the_name_changes_and_nothing_that_others_define(names) -> None:
    assert names.rename(_HEADER) == (
        "// thrice: doubles, in the manner of torch.twice.\n"
        "#include <tiny/device/vec.cuh>\n"
        "namespace tiny::math {\n"
        "constexpr int kThriceThreads = 256;\n"
        "struct ThriceShape { int64_t rows; };\n"
        "__device__ inline int thrice_value(int x) { return x + device::twice_add(x); }\n"
        "__global__ void ThriceKernel(ThriceShape shape) "
        "{ device::Twice(shape.rows, twice_pair(1)); }\n"
        "cudaError_t Thrice(int* x, const ThriceShape& shape) { return cudaSuccess; }\n"
        "}  // namespace tiny::math\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EXPORT(twice, tiny::elementwise::twice)", "EXPORT(thrice, tiny::math::thrice)"),
        ("call(__func__, elementwise::twice, x)", "call(__func__, math::thrice, x)"),
        ("int twice(int value) { return 2; }", "int thrice(int value) { return 2; }"),
        ("f(&twice);", "f(&thrice);"),
        ('raise("twice: argument");', 'raise("thrice: argument");'),
        ("#include <tiny/elementwise/twice.cuh>", "#include <tiny/math/thrice.cuh>"),
        ("fictl::elementwise::twice(x);", "fictl::elementwise::twice(x);"),
        ("kernel::twice(x);", "kernel::thrice(x);"),
        ("TwiceShape::kRows", "ThriceShape::kRows"),
    ],
)
def test_each_way_to_name_the_op_in_cpp(names, text: str, expected: str) -> None:
    assert names.rename(text) == expected


def test_a_variable_of_the_ops_name_stays_what_it_is(names) -> None:
    text = "float twice = view.twice(3);\nreturn twice(twice) * shape.twice;\n"
    assert names.rename(text) == (
        "float twice = view.twice(3);\nreturn thrice(twice) * shape.twice;\n"
    )


def test_arguments_of_the_api_keep_their_names(names, twice) -> None:
    text = twice.op.read_text().replace("input: int)", "input: int, twice_value: int)")
    twice.op.write_text(text)
    fresh = CppNames(Renaming(twice, replace(twice, module="thrice")), names.files)
    assert "twice_value" in fresh.rename(_HEADER)


def test_outside_only_what_is_meant_for_it_changes(names) -> None:
    text = (
        "// twice\n#include <tiny/elementwise/twice.cuh>\n"
        "int f(int twice) { return twice + elementwise::Twice(twice) + TwiceShape{}.rows; }\n"
        'const char* name = "twice";\n'
    )
    assert names.rename_outside(text) == (
        "// twice\n#include <tiny/math/thrice.cuh>\n"
        "int f(int twice) { return twice + math::Thrice(twice) + ThriceShape{}.rows; }\n"
        'const char* name = "twice";\n'
    )


def test_a_new_name_that_is_taken_is_known(names, twice) -> None:
    assert names.clashes() == set()
    taken = CppNames(Renaming(twice, replace(twice, module="value")), names.files)
    twice.launchers[0].write_text("int value(int x);\n")
    assert taken.clashes() == {"value"}
