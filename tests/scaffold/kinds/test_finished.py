"""Kinds whose kernels are finished: what they write beside their golden trees."""

from __future__ import annotations

import ast

import pytest

from fictl.errors import UsageError
from fictl.project import Project
from fictl.scaffold.kinds.kind import kinds
from fictl.scaffold.kinds.match import expand
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest

FINISHED = [kind for kind in kinds().values() if kind.scalars and not kind.expression]


def _texts(project: Project, request: NewOpRequest) -> dict[str, str]:
    files = plan_op(draft(project, request), polished=False).files
    return {path.name: text for path, text in files.items() if text is not None}


@pytest.mark.parametrize("kind", FINISHED, ids=lambda kind: kind.name)
def test_tensors_and_axes_have_the_names_that_were_said(kind, project: Project) -> None:
    """In every file, and no other name is left of them."""
    bound = {"rows": ("zz_n",), "cols": ("zz_d",), "tokens": ("zz_n",), "experts": ("zz_d",)}
    inputs = tuple(f"zz_in{expand(p, bound)[expand(p, bound).index(':') :]}" for p in kind.inputs)
    outputs = tuple(
        f"zz_out{n}{expand(p, bound)[expand(p, bound).index(':') :]}"
        for n, p in enumerate(kind.outputs)
    )
    request = NewOpRequest("my_op", kind=kind.name, inputs=inputs, outputs=outputs, dtypes="bf16")
    texts = _texts(project, request)
    for name, text in texts.items():
        if name.endswith(".py"):
            ast.parse(text)
    assert all("zz_in" in text and "zz_out0" in text for text in _in_cpp(texts))
    assert "zz_n" in texts["bench.py"]
    taken = {pattern.partition(":")[0] for pattern in kind.inputs}
    assert not [name for name in taken if f"View {name}" in "".join(texts.values())]


def _in_cpp(texts: dict[str, str]) -> list[str]:
    return [text for name, text in texts.items() if name.endswith((".cuh", ".cu", ".cpp"))]


@pytest.mark.parametrize("kind", FINISHED, ids=lambda kind: kind.name)
def test_defaults_of_numbers_are_those_that_were_said(kind, project: Project) -> None:
    said = tuple(text.replace("=8", "=3").replace("=128", "=3") for text in kind.scalars)
    texts = _texts(project, NewOpRequest("my_op", kind=kind.name, scalars=said))
    for text in said:
        name, _, rest = text.partition(":")
        default = rest.partition("=")[2].capitalize()
        assert f"{name}: {rest.partition('=')[0]} = {default}" in texts["op.py"]
        assert f", {default})" in texts["trace.py"]


@pytest.mark.parametrize("kind", FINISHED, ids=lambda kind: kind.name)
def test_another_reference_is_refused(kind, project: Project) -> None:
    with pytest.raises(UsageError, match=f"kind {kind.name} has no use for ref.py:f"):
        draft(project, NewOpRequest("my_op", kind=kind.name, reference="ref.py:f"))


@pytest.mark.parametrize(
    ("dtype", "largest", "cpp"),
    [
        ("e4m3", "448.0", "__nv_fp8_e4m3"),
        ("e5m2", "57344.0", "__nv_fp8_e5m2"),
        ("i8", "127.0", "int8_t"),
    ],
)
def test_quantize_has_the_type_that_was_said(
    dtype: str, largest: str, cpp: str, project: Project
) -> None:
    outputs = (f"q:rows,cols:{dtype}", "scales:rows,n=cols//group_size:f32")
    texts = _texts(project, NewOpRequest("my_op", kind="quantize", outputs=outputs))
    assert f"using MyOpTo = {cpp};" in texts["my_op.cuh"]
    assert f"constexpr float kMyOpLargest = {largest}f;" in texts["my_op.cuh"]
    assert f"LARGEST = {largest}" in texts["trace.py"]


def test_scan_adds_integers_in_64_bits_and_floats_without_it(project: Project) -> None:
    request = NewOpRequest("my_op", kind="scan", dtypes="i32,bf16")
    assert "std::is_integral_v<T>, int64_t" in _texts(project, request)["my_op.cuh"]
    request = NewOpRequest("my_op", kind="scan", dtypes="f64,f32")
    assert "is_integral" not in _texts(project, request)["my_op.cuh"]
