"""From a definition to an op: a kernel where there is one for it, all but the kernel elsewhere."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.project import Project
from fictl.scaffold.new.draft import Draft
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest

MATRIX = {"shape": ["rows", "cols"], "dtype": "bfloat16"}
DOUBLED = {
    "name": "doubled_c64",
    "op_type": "toy",
    "description": "Twice x.",
    "tags": ["status:tried"],
    "axes": {
        "rows": {"type": "var", "description": "of x"},
        "cols": {"type": "const", "value": 64},
    },
    "constraints": ["rows % 2 == 0"],
    "inputs": {"x": MATRIX},
    "outputs": {"y": MATRIX},
    "reference": "import torch\n\n\ndef run(x):\n    return x * 2\n",
}
# What no kind of ours has a kernel for.
CUMSUM = "import torch\n\n\ndef run(x):\n    return torch.cumsum(x, dim=-1)\n"

Make = Callable[..., Draft]


@pytest.fixture
def make(project: Project, tmp_path: Path) -> Make:
    def of(name: str = "", kind: str = "", **changes: Any) -> Draft:
        path = tmp_path / "definition.json"
        path.write_text(json.dumps({**DOUBLED, **changes}))
        return draft(project, NewOpRequest(name, kind, definition=str(path)))

    return of


def text(made: Draft, name: str) -> str:
    """Of the file of that name, as it would be written."""
    files = plan_op(made, polished=False).files
    return next(text for path, text in files.items() if path.name == name)


def test_where_a_kind_can_do_it_the_kernel_is_there(make: Make) -> None:
    made = make()
    assert (made.name, made.family, made.kind.name) == ("doubled_c64", "toy", "elementwise")
    assert made.call == "doubled_c64(x:rows,cols) -> y:rows,cols = x * 2"


def test_what_no_kind_can_do_is_all_but_the_kernel(make: Make) -> None:
    made = make(reference=CUMSUM)
    header = text(made, "doubled_c64.cuh")
    assert "constexpr bool kDoubledC64Written = false;" in header
    assert "constexpr int64_t kDoubledC64Cols = 64;" in header
    assert "    DoubledC64Kernel(const T* x, T* y, int64_t rows) {" in header
    assert "its kernel is not written yet" in text(made, "launcher.cu")


@pytest.mark.parametrize("reference", [DOUBLED["reference"], CUMSUM])
def test_the_trace_says_what_the_definition_does(make: Make, reference: str) -> None:
    said = text(make(reference=reference), "trace.py")
    for part in (
        'Var("of x")',
        'Const("fixed by the definition", value=64)',
        'constraints=("rows % 2 == 0",)',
        'op_type="toy"',
        'tags=("status:tried",)',
        'description="Twice x."',
    ):
        assert part in said
    assert reference.rpartition("\n    ")[2].strip() in said
    ast.parse(said)


def test_its_cases_are_such_as_the_constraints_allow(make: Make) -> None:
    sizes = make().more["defined_cases"]
    assert len(sizes) > 1
    assert all(each["rows"] % 2 == 0 for each in sizes)


def test_an_axis_that_an_equation_computes_follows_from_the_others(make: Make) -> None:
    made = make(
        reference=CUMSUM.replace("run(x)", "run(x, offsets)"),
        axes={**DOUBLED["axes"], "more": {"type": "var"}},
        constraints=["more == rows + 1"],
        inputs={"x": MATRIX, "offsets": {"shape": ["more"], "dtype": "int32"}},
    )
    assert 'Expr("rows + 1", "follows from the others")' in text(made, "trace.py")
    assert made.more["unsaid"] == ["offsets"]
    assert all([*sizes] == ["rows"] for sizes in made.more["defined_cases"])


def test_an_init_comes_along_and_shares_what_the_reference_has(make: Make) -> None:
    shared = "import torch\n\n\ndef half(n):\n    return n // 2\n\n\n"
    made = make(
        reference=f"{shared}def run(x):\n    return torch.cumsum(x, dim=-1) * half(2)\n",
        init=f"{shared}def make(sizes, dtype, device, generator):\n"
        "    return {'x': torch.ones(half(sizes['rows']) * 2, 64, dtype=dtype, device=device)}\n",
    )
    said = text(made, "trace.py")
    assert said.count("def _half(") == 1
    assert "def _init(\n    sizes: Mapping[str, int], dtype: torch.dtype" in said
    assert "init=_init," in said
    assert made.more["unsaid"] == []


def test_what_is_written_in_place_is_a_result_of_its_own(make: Make) -> None:
    made = make(outputs={"x": MATRIX})
    assert [each.name for each in made.signature.outputs] == ["x_out"]


def test_names_that_generated_files_use_are_others(make: Make) -> None:
    made = make(
        inputs={"value": MATRIX},
        reference="import torch\n\n\ndef run(value):\n    return value * 2\n",
    )
    assert [each.name for each in made.signature.inputs] == ["value_in"]
    assert "value_in * 2" in text(made, "trace.py")


def test_a_kind_that_is_named_has_to_fit(make: Make) -> None:
    with pytest.raises(UsageError, match="has no translation into a kernel"):
        make(kind="rowwise", reference=CUMSUM)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"inputs": {"x": {"shape": [], "dtype": "float32"}}}, "x is a tensor without axes"),
        ({"inputs": {"x": {"shape": None, "dtype": "float32"}}}, "takes no tensor"),
        ({"constraints": ["rows < 0"]}, "no sizes were found that doubled_c64 allows"),
        ({"reference": "def run(a):\n    return a\n"}, "the reference takes a"),
        ({"axes": {"rows": {"type": "var"}}}, "unknown axes"),
    ],
)
def test_what_cannot_be_an_op_is_refused(make: Make, changes: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        make(**changes)


def test_a_product_is_one_of_tensor_cores_at_sizes_that_a_test_can_have(make: Make) -> None:
    half = {"dtype": "float16"}
    made = make(
        axes={"M": {"type": "var"}, **{n: {"type": "const", "value": 512} for n in "NK"}},
        constraints=["M % 2 == 0"],
        inputs={"A": {"shape": ["M", "K"], **half}, "B": {"shape": ["N", "K"], **half}},
        outputs={"C": {"shape": ["M", "N"], **half}},
        reference="import torch\n\n\ndef run(A, B):\n    C = torch.matmul(A, B.T)\n    return C\n",
    )
    assert made.kind.name == "gemm"
    assert 'constraints=("M % 2 == 0",),' in text(made, "trace.py")
    assert made.more["defined_cases"][0] == {"M": 2}


def test_an_axis_is_called_otherwise_where_a_kernel_means_something_else_by_it(make: Make) -> None:
    matrix = {"shape": ["T", "cols"], "dtype": "bfloat16"}
    made = make(
        reference=CUMSUM,
        axes={**DOUBLED["axes"], "T": {"type": "var"}},
        constraints=[],
        inputs={"x": matrix},
        outputs={"y": matrix},
    )
    assert "Kernel(const T* x, T* y, int64_t t_size) {" in text(made, "doubled_c64.cuh")
