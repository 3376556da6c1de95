from __future__ import annotations

import json
from pathlib import Path

import golden
import pytest

from fictl.project import Project
from fictl.scaffold.existing.upgrade.again import record_of, texts_now
from fictl.scaffold.new.new_op import draft, texts_of
from fictl.scaffold.new.reference import ReadReference, Reference
from fictl.scaffold.new.request import NewOpRequest

KERNEL = """
template <typename T>
__global__ void Halve(const T* x, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i];
}
"""
READ = ReadReference(
    Reference("def _reference(x: torch.Tensor) -> torch.Tensor:\n    return x * 1"),
    inputs=("x:n",),
    scalars=(),
    outputs=("out:n",),
    expression="x * 1",
)
DEFINITION = {
    "name": "doubled",
    "op_type": "pointwise",
    "axes": {"n": {"type": "var"}},
    "inputs": {"x": {"shape": ["n"], "dtype": "float16"}},
    "outputs": {"out": {"shape": ["n"], "dtype": "float16"}},
    "reference": "import torch\n\n\ndef run(x):\n    return x * 2\n",
}


@pytest.mark.parametrize("kind", golden.KINDS)
def test_each_kind_is_written_again_from_what_was_inferred(project: Project, kind: str) -> None:
    request = golden.request(kind)
    new_op = draft(project, request)
    record = record_of(new_op, request)
    assert record.request.kind == kind
    assert len(record.request.inputs) == len(new_op.signature.inputs)
    assert texts_now(project, record) == record.files


@pytest.mark.parametrize(
    "given",
    [
        {"name": "halve", "kernel": "{at}/halve.cu:Halve", "expression": "x"},
        {"name": "pairs", "reference": "{at}/ref.py:pairs"},
        {"name": "halve", "reference": "{at}/ref.py:pairs", "kernel": "{at}/halve.cu:Halve"},
        {"name": "", "definition": "{at}/doubled.json"},
    ],
    ids=["kernel", "reference", "both", "definition"],
)
def test_files_that_a_request_names_need_not_be_there_again(
    project: Project, tmp_path: Path, given: dict[str, str]
) -> None:
    (tmp_path / "halve.cu").write_text(KERNEL)
    (tmp_path / "doubled.json").write_text(json.dumps(DEFINITION))
    request = NewOpRequest(**{name: text.format(at=tmp_path) for name, text in given.items()})
    new_op = draft(project, request, read=READ if request.reference else None)
    record = record_of(new_op, request)
    assert str(tmp_path) not in record.text()
    for path in tmp_path.glob("*.*"):
        path.unlink()
    assert texts_now(project, record) == texts_of(new_op)
