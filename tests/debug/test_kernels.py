"""The kernels of a module: by name and namespace, those that are compiled, those that are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.debug.kernels import chosen, compiled, kernel_names, sources_of
from fictl.errors import UsageError
from fictl.jit.spec import JitSpec
from fictl.project.cpp_source import CppSource

SOURCE = """
#include <b.cuh>
namespace my::norm {
template <int N, typename T>
__global__ void __launch_bounds__(N * (32), 2)
    WideKernel(T* out) { if (N) { out[0] = 1; } }
inline namespace v1 { struct S { int x; }; }
namespace {
__global__ static void __cluster_dims__(2, 1, 1) HiddenKernel() {}
}
MY_DECL __global__ MY_BOUNDS(64) void PlainKernel(int n);
// __global__ void CommentedKernel() {}
}  // namespace my::norm
namespace alias = my::norm;
extern "C" __global__ void c_kernel(int n) {}
"""


def named(text: str, path: Path) -> list[str]:
    path.write_text(text, encoding="utf-8")
    return kernel_names([CppSource(path)])


def test_every_kernel_is_named_with_its_namespaces(tmp_path: Path) -> None:
    assert named(SOURCE, tmp_path / "a.cuh") == [
        "my::norm::WideKernel",
        "my::norm::(anonymous namespace)::HiddenKernel",
        "my::norm::PlainKernel",
        "c_kernel",
    ]


def test_a_kernel_in_a_header_is_one_of_the_module(tmp_path: Path) -> None:
    (tmp_path / "launcher.cu").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "b.cuh").write_text("__global__ void b() {}\n", encoding="utf-8")
    spec = JitSpec("m", (tmp_path / "launcher.cu",), include_dirs=(tmp_path,))
    assert kernel_names(sources_of([spec, spec]))[-1] == "b"


def test_what_a_module_does_not_have_is_left_out(program, tmp_path: Path) -> None:
    program(
        "nm",
        "echo '0000000000013 t void my::norm::WideKernel<8, float>(float*)'\n"
        "echo '0000000000014 t other(int)'; echo '  U undefined'",
    )
    names = ["my::norm::WideKernel", "my::norm::PlainKernel"]
    assert compiled(names, [tmp_path / "module.so"]) == names[:1]


def test_a_module_that_tells_nothing_may_have_them_all(program, tmp_path: Path) -> None:
    program("nm", "echo no symbols >&2; exit 1")
    assert compiled(["a", "b"], [tmp_path / "module.so"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("", ["n::Sum", "n::SumWide", "Sum2"]),
        ("Sum", ["n::Sum"]),
        ("n::SumWide", ["n::SumWide"]),
        ("wide", ["n::SumWide"]),
    ],
)
def test_a_kernel_is_named_in_full_or_in_part(wanted: str, found: list[str]) -> None:
    assert chosen(["n::Sum", "n::SumWide", "Sum2"], wanted) == found


def test_a_kernel_that_is_not_there_is_an_error_that_lists_them() -> None:
    with pytest.raises(UsageError, match="no kernel 'Max'") as error:
        chosen(["n::Sum"], "Max")
    assert error.value.hint == "there are n::Sum"
