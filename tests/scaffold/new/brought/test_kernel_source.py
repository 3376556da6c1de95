"""Reading kernels and host functions out of CUDA files, and refusing those that no op can call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.scaffold.new.brought.kernel_source import KernelSource, read_kernel
from fictl.scaffold.new.brought.launch import unit_of

Read = Callable[..., KernelSource]
_THREAD = "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def of(text: str, entry: str = "F") -> KernelSource:
        path = tmp_path / "my.cu"
        path.write_text(text)
        return read_kernel(f"{path}:{entry}")

    return of


def test_a_template_s_parameters_have_their_roles(read: Read) -> None:
    made = read(
        "namespace a { namespace b {\n// F(int) is not it, nor F;\ntemplate <typename scalar_t>\n"
        "__global__ void __launch_bounds__(256) F(const scalar_t* __restrict__ x,\n"
        f"    scalar_t* y, float s, bool on, const int64_t n) {_THREAD}\n}}}}\n"
    )
    assert [(p.name, p.type, p.role) for p in made.parameters] == [
        ("x", "scalar_t", "pointer"),
        ("y", "scalar_t", "pointer"),
        ("s", "float", "float"),
        ("on", "bool", "bool"),
        ("n", "int64_t", "int"),
    ]
    assert [p.is_const for p in made.of("pointer")] == [True, False]
    assert (made.element, made.function.scope, made.function.line) == ("scalar_t", "a::b::", 4)
    assert (made.function.is_global, made.function.bounds) == (True, "256")


def test_a_plain_kernel_has_the_dtypes_of_its_pointers(read: Read) -> None:
    made = read(f"__global__ void F(const half* x, const int ids[], float *y, int n) {_THREAD}")
    found = [p.dtype.name for p in made.of("pointer") if p.dtype]
    assert found == ["float16", "int32", "float32"]
    assert made.element == ""


def test_a_host_function_has_a_stream(read: Read) -> None:
    made = read(
        "template <class T>\ninline cudaError_t F(const T* x, T* y, T s, unsigned int n,\n"
        "                     cudaStream_t stream = nullptr) { return cudaGetLastError(); }\n"
    )
    assert [p.role for p in made.parameters] == ["pointer", "pointer", "float", "int", "stream"]
    assert made.function.result == "cudaError_t"
    assert unit_of(made) is None


def test_a_declaration_and_a_call_are_no_definition(read: Read) -> None:
    made = read(
        "__global__ void F(const float* x, float* y, int n);\n"
        f"__global__ void F(const float* x, float* y, int n) {_THREAD}\n"
        'void Run(float* x) { printf("F(x) {"); F<<<1, 1>>>(x, x, 1); }\n'
    )
    assert made.function.line == 2


def test_defaults_of_a_template_need_no_words(read: Read) -> None:
    text = f"template <typename T, int kN = 4> __global__ void F(const T* x, T* y, int n) {_THREAD}"
    assert read(text).arguments == ("T",)
    assert read(text, "F<T, 8>").arguments == ("T", "8")
    fixed = read(text, "F<float>")
    assert (fixed.arguments, fixed.element) == (("float",), "")
    assert fixed.of("pointer")[0].type == "float"


_OK = "__global__ void F(const float* x, float* y) { }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__global__ void G(float* x) { }\n", "defines no function F"),
        (_OK + _OK, "defines F 2 times, in lines 1, 2"),
        ("#include <torch/extension.h>\n" + _OK, "my.cu:1: #include <torch/extension.h>"),
        ('// Its own.\n#include "beside.cuh"\n' + _OK, 'my.cu:2: #include "beside.cuh"'),
        (
            "torch::Tensor F(torch::Tensor x) { return x; }\n" + _OK.replace("F", "G"),
            "takes tensors of a framework",
        ),
        (_OK + "int main() { return 0; }\n", "my.cu:2: a program's main"),
        ("struct S { void F(float* x, cudaStream_t s) { } };\n", "inside a class"),
        ("__global__ void F(const float4* x, float* y) { }\n", "takes 'const float4* x'"),
        ("__global__ void F(void* x) { }\n", "takes 'void* x'"),
        ("struct P { int n; };\n__global__ void F(float* x, P p) { }\n", "takes 'P p'"),
        ("__global__ void F(const float*, float* y) { }\n", "has no name"),
        ("__global__ void F(int n) { }\n", "takes no pointer"),
        ("void F(float* x, int n) { }\n", "takes no cudaStream_t"),
        ("int F(float* x, cudaStream_t s) { return 0; }\n", "returns int"),
        ("template <typename T, int kN> __global__ void F(T* x) { }\n", "nothing says the kN"),
    ],
)
def test_what_no_op_can_call_is_named(text: str, message: str, read: Read, tmp_path: Path) -> None:
    (tmp_path / "beside.cuh").touch()
    with pytest.raises(UsageError) as error:
        read(text)
    assert message in error.value.message


def test_a_name_that_is_nearly_right_is_suggested(read: Read) -> None:
    with pytest.raises(UsageError, match="did you mean 'ScaleKernel'"):
        read("__global__ void ScaleKernel(float* x) { }\n", "ScaleKernal")


def test_a_kernel_inside_a_torch_extension_is_pointed_at(read: Read) -> None:
    with pytest.raises(UsageError, match="point --kernel at a kernel that takes pointers: G"):
        read("__global__ void G(float* x) { }\ntorch::Tensor F(torch::Tensor x) { return x; }\n")


@pytest.mark.parametrize("text", ["my_kernel", "my.cu", "my.py:f", "no.cu:F"])
def test_no_file_and_entry_says_the_form(text: str) -> None:
    with pytest.raises(UsageError, match=r"write FILE\.cu:ENTRY"):
        read_kernel(text)
