"""Ops around kernels that are there: whose argument is what, the header, and that they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import Project
from fictl.scaffold.new.brought.bring import bring
from fictl.scaffold.new.brought.brought import Brought
from fictl.scaffold.new.brought.header import header
from fictl.scaffold.new.brought.kernel_source import read_kernel
from fictl.scaffold.new.brought.sizes import Sizes
from fictl.scaffold.new.new_op import draft
from fictl.scaffold.new.reference import ReadReference, Reference
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.new.signature import Signature, parse_tensor

_GATE = """\
#pragma once
#include <cuda_fp16.h>

template <typename T>
__global__ void GateKernel(const T* x, const T* gate, T* output, float slope, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < n) output[idx] = T(float(x[idx]) / (1.0f + expf(-slope * float(gate[idx]))));
}
"""


def brought(
    folder: Path, text: str, entry: str, expression: str = "", **said: tuple[str, ...]
) -> Brought:
    path = folder / "my.cu"
    path.write_text(text)
    read = None
    if said and not expression:
        read = ReadReference(
            Reference(""), said["inputs"], said.get("scalars", ()), said["outputs"], None
        )
    request = NewOpRequest("gate", kernel=f"{path}:{entry}", expression=expression)
    return bring(request, read)


def arguments(made: Brought) -> list[str]:
    found: list[str] = made.context("mine", "act")["arguments"]
    return found


def test_an_expression_says_inputs_and_numbers(tmp_path: Path) -> None:
    made = brought(tmp_path, _GATE, "GateKernel", "x * sigmoid(slope * gate)")
    assert [*map(str, made.signature.inputs)] == ["x:n", "gate:n"]
    assert [each.name for each in made.signature.scalars] == ["slope"]
    assert arguments(made) == [
        "x.data<const T>()",
        "gate.data<const T>()",
        "out.data<T>()",
        "static_cast<float>(slope)",
        'as_int(launch, "numel", out.numel())',
    ]


def test_a_reference_of_other_names_goes_by_place(tmp_path: Path) -> None:
    made = brought(
        tmp_path,
        _GATE,
        "GateKernel",
        inputs=("a:rows,cols", "b:rows,cols"),
        scalars=("s:float=1.0",),
        outputs=("y:rows,cols",),
    )
    assert arguments(made)[:4] == [
        "a.data<const T>()",
        "b.data<const T>()",
        "y.data<T>()",
        "static_cast<float>(s)",
    ]
    assert made.any_shape


def test_ints_are_axes_by_name(tmp_path: Path) -> None:
    text = (
        "template <typename T> __global__ void F(const T* x, const int* ids, T* y, int numTokens,\n"
        "    int64_t hidden_size) { y[blockIdx.x] = x[ids[blockIdx.x]]; }\n"
    )
    made = brought(
        tmp_path,
        text,
        "F",
        inputs=("x:tokens,hidden", "ids:tokens:i32"),
        outputs=("y:tokens,hidden",),
    )
    assert arguments(made)[3:] == ['as_int(launch, "tokens", x.size(0))', "x.size(1)"]
    assert [each.dtype for each in made.signature.inputs] == ["", "int32"]
    assert not made.any_shape


@pytest.mark.parametrize(
    ("index", "size", "expected"),
    [
        ("blockIdx.x * blockDim.x + threadIdx.x", "n", 'as_int(launch, "numel", y.numel())'),
        ("blockIdx.x * blockDim.x + threadIdx.x", "total", 'as_int(launch, "numel", y.numel())'),
        ("blockIdx.x * blockDim.x + threadIdx.x", "cols", 'as_int(launch, "cols", x.size(1))'),
        ("blockIdx.x", "cols", 'as_int(launch, "cols", x.size(1))'),
        ("blockIdx.x", "width", 'as_int(launch, "cols", x.size(1))'),
        ("blockIdx.x", "n", 'as_int(launch, "cols", x.size(1))'),
    ],
)
def test_one_int_is_what_its_name_and_the_launch_say(
    index: str, size: str, expected: str, tmp_path: Path
) -> None:
    text = (
        f"template <typename T> __global__ void F(const T* x, T* y, int {size}) {{\n"
        f"  const int at = {index};\n  y[at] = x[at];\n}}\n"
    )
    made = brought(tmp_path, text, "F", inputs=("x:n,cols",), outputs=("y:n,cols",))
    assert arguments(made)[2] == expected


@pytest.mark.parametrize(
    ("inputs", "output", "rows", "row"),
    [
        (("x:n,d",), "y:n,d", "y.size(0)", "d"),
        (("x:b,n,d",), "y:b,n,d", "y.size(0) * y.size(1)", "d"),
        (("x:b,n,d",), "y:b,n", "y.numel()", "d"),
        (("ids:n:i32", "table:v,d"), "y:n,d", "y.size(0)", "d"),
        (("x:n",), "y:n", "y.numel()", "n"),
    ],
)
def test_a_block_has_a_row_of_the_output_or_what_gives_one_value(
    inputs: tuple[str, ...], output: str, rows: str, row: str
) -> None:
    sizes = Sizes(Signature(tuple(map(parse_tensor, inputs)), (), (parse_tensor(output),)))
    assert (sizes.rows, sizes.row) == (rows, row)


def test_a_plain_kernel_is_of_one_dtype(tmp_path: Path) -> None:
    made = brought(tmp_path, _GATE, "GateKernel<float>", "x * gate * slope")
    assert [dtype.name for dtype in made.dtypes] == ["float32"]
    assert arguments(made)[0] == "x.data<const T>()"


def test_instructions_of_a_gpu_are_not_for_the_emulated_device(tmp_path: Path) -> None:
    text = _GATE.replace("int idx", 'asm volatile("");\n  int idx')
    assert brought(tmp_path, text, "GateKernel", "x * gate * slope").devices == "cuda"
    heavy = brought(tmp_path, "#include <cub/cub.cuh>\n" + _GATE, "GateKernel", "x * gate * slope")
    assert (heavy.devices, heavy.heavy) == ("cuda", ["cub/cub.cuh"])


@pytest.mark.parametrize(
    ("text", "expression", "message"),
    [
        (_GATE, "", "nothing says what GateKernel computes"),
        (_GATE, "x * slope", "of what it reads, gate remain; of the op's own, none"),
        (_GATE, "x * gate", "of its numbers, slope remain; of the op's own, none"),
        (_GATE, "x * gate * slope * other", "of its numbers, none remain; of the op's own, other"),
        (
            _GATE.replace("const T* x", "T* x"),
            "gate * slope",
            "of what it writes, x, output remain; of the op's own, out",
        ),
        (_GATE.replace("int n", "int n, int stride"), "x * gate * slope", "an int stride, which"),
        (
            _GATE.replace("int n", "int n, int stride, int pitch"),
            "x * gate * slope",
            "takes ints stride and pitch, which are no axes of x:n, gate:n, out:n",
        ),
        (_GATE, "sum(x * gate) * slope", "does not say the shapes of x, gate"),
    ],
)
def test_what_does_not_fit_is_named(
    text: str, expression: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as error:
        brought(tmp_path, text, "GateKernel", expression)
    assert message in error.value.message


def test_a_number_that_the_reference_does_not_take_is_refused(tmp_path: Path) -> None:
    (tmp_path / "my.cu").write_text(_GATE)
    read = ReadReference(Reference(""), ("x:n", "gate:n"), ("slope:float",), ("out:n",), None)
    request = NewOpRequest(
        "gate", kernel=f"{tmp_path}/my.cu:GateKernel", scalars=("slope:float", "pitch:int")
    )
    with pytest.raises(UsageError, match="'pitch', which the reference does not take") as error:
        bring(request, read)
    assert error.value.hint.endswith("its numbers are slope")


def test_values_that_an_index_points_at_differ(tmp_path: Path) -> None:
    text = "template <typename T> __global__ void F(const T* x, int* idx, int d) { idx[blockIdx.x] = 0; }"
    made = brought(tmp_path, text, "F", inputs=("x:n,d",), outputs=("idx:n:i32",))
    assert made.untied is not None
    assert made.untied.name == "x"
    plain = brought(tmp_path, _GATE, "GateKernel", "x * sigmoid(slope * gate)")
    assert plain.untied is None


@pytest.mark.parametrize(
    ("expression", "output", "code"),
    [
        ("x - max(x)", "out:rows,cols", "x - x.amax(dim=-1, keepdim=True)"),
        ("max(x)", "out:rows", "x.amax(dim=-1)"),
    ],
)
def test_the_reference_of_an_expression_has_the_output_s_shape(
    expression: str, output: str, code: str, project: Project
) -> None:
    (project.root / "my.cu").write_text(
        "template <typename T> __global__ void F(const T* x, T* y, int cols) { y[blockIdx.x] = 0; }"
    )
    request = NewOpRequest(
        "f", kernel="my.cu:F", expression=expression, inputs=("x:rows,cols",), outputs=(output,)
    )
    assert draft(project, request).context["reference_code"] == code


def made_header(folder: Path, text: str) -> str:
    path = folder / "my.cu"
    path.write_text(text)
    return header(read_kernel(f"{path}:F"), "mine::act")


_F = "__global__ void F(float* x) { x[blockIdx.x] = 0; }\n"


def test_a_file_without_a_namespace_is_put_into_the_project_s(tmp_path: Path) -> None:
    assert made_header(tmp_path, f"// It is F.\n#include <cuda.h>\n{_F}") == (
        f"// It is F.\n#pragma once\n\n#include <cuda.h>\n\nnamespace mine::act {{\n\n{_F}\n"
        "}  // namespace mine::act\n"
    )


def test_a_file_with_a_namespace_stays_as_it_is(tmp_path: Path) -> None:
    text = f"#pragma once\nnamespace own {{\n{_F}}}\n"
    assert made_header(tmp_path, text) == text


def test_a_guard_stays_around_everything(tmp_path: Path) -> None:
    text = f"// Mine.\n#ifndef F_H\n#define F_H\n#include <cuda.h>\n{_F}#endif  // F_H\n"
    made = made_header(tmp_path, text)
    assert made.endswith("}  // namespace mine::act\n\n#endif  // F_H\n")
    assert "#pragma once" not in made
