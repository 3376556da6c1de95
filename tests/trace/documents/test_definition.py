from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fictl.errors import UsageError
from fictl.trace import Definition

GOOD: dict[str, Any] = {
    "name": "gemm_n4096",
    "op_type": "gemm",
    "tags": ["fi_api:my_kernels.ops.gemm"],
    "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 4096}},
    "constraints": ["M % 8 == 0"],
    "inputs": {
        "A": {"shape": ["M", "N"], "dtype": "float16"},
        "eps": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"C": {"shape": ["M"], "dtype": "float16"}},
    "reference": "def run(A, eps):\n    return A.sum(1) + eps\n",
}


def _axes(value: object) -> dict[str, Any]:
    return {"M": {"type": "var"}, "N": {"type": "const", "value": value}}


def write(tmp_path: Path, **changes: Any) -> Path:
    path = tmp_path / "def.json"
    path.write_text(json.dumps({**GOOD, **changes}), encoding="utf-8")
    return path


def test_a_definition_is_read_and_written_as_it_was(tmp_path: Path) -> None:
    made = Definition.read(write(tmp_path))
    assert made.to_dict() == GOOD
    assert (made.api, made.const_axes) == ("my_kernels.ops.gemm", {"N": 4096})


def test_extensions_of_others_are_kept(tmp_path: Path) -> None:
    made = Definition.read(write(tmp_path, check="def check(): ..."))
    assert made.to_dict()["check"] == "def check(): ..."


def test_without_a_tag_it_names_no_function(tmp_path: Path) -> None:
    assert Definition.read(write(tmp_path, tags=["status:verified"])).api == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "a\tb"}, "name: a name needs printable characters"),
        ({"name": ""}, "name: "),
        ({"op_type": " "}, "op_type: a name needs printable characters"),
        (
            {"axes": {"M": {"type": "var"}, "N": {"type": "const", "value": -1}}},
            "axes.N.value: Input",
        ),
        ({"axes": {"M": {"type": "expr"}}}, "axes.M.expression: "),
        ({"axes": {"M": {"type": "expr", "expression": "f(N)"}}}, "axes.M.expression: 'f.N.' has"),
        (
            {"axes": {**GOOD["axes"], "M": {"type": "expr", "expression": "K + 1"}}},
            r"the axis M needs the unknown axes \['K'\]",
        ),
        ({"custom_inputs_entrypoint": "make"}, "no top-level function 'make' to generate inputs"),
        ({"axes": {"M": {"type": "var"}}}, r"A has the unknown axes \['N'\]"),
        ({"inputs": {"A": {"shape": None, "dtype": "uint7"}}}, "inputs.A.dtype: "),
        ({"constraints": ["M %"]}, "constraints.0: not valid Python"),
        ({"constraints": ["M > 0", "  "]}, "constraints.1: not valid Python"),
        ({"constraints": ["M + 1"]}, "constraints.0: not a condition"),
        ({"constraints": ["8"]}, "constraints.0: not a condition"),
        ({"constraints": ["'M > 0'"]}, "constraints.0: not a condition"),
        ({"constraints": ["M > \uff14"]}, "constraints.0: not valid Python"),
        ({"constraints": [8]}, "constraints.0: Input should be a valid string"),
        ({"axes": _axes(0)}, "axes.N.value: Input should be greater than or equal to 1"),
        ({"axes": _axes(2**80)}, "axes.N.value: Input should be less than or equal to 92"),
        ({"axes": _axes("4096")}, "axes.N.value: Input should be a valid integer"),
        ({"axes": _axes("\uff14")}, "axes.N.value: Input should be a valid integer"),
        ({"axes": _axes(True)}, "axes.N.value: Input should be a valid integer"),
        ({"axes": _axes(4096.0)}, "axes.N.value: Input should be a valid integer"),
        ({"outputs": {}}, "outputs: Dictionary should have at least 1 item"),
        ({"inputs": {}}, "inputs: Dictionary should have at least 1 item"),
        (
            {"inputs": {"A": {"shape": ["M"] * 200, "dtype": "int8"}}},
            "inputs.A.shape: .*at most 64",
        ),
        ({"inputs": {"A": {"shape": ["\uff14"], "dtype": "int8"}}}, "A has the unknown axes"),
        *(
            ({part: {**GOOD[part], word: next(iter(GOOD[part].values()))}}, rf"{part}.{word}: ")
            for part in ("axes", "inputs", "outputs")
            for word in (
                "nan",
                "NaN",
                "inf",
                "Infinity",
                "None",
                "True",
                "lambda",
                "in",
                "4",
                "\uff14",
                "a b",
                "a=b",
                "\uff4e",
                "",
            )
        ),
        ({"reference": "def run(:"}, "reference: not valid Python"),
        ({"reference": "def walk(A):\n    return A\n"}, "no top-level function run"),
        ({"reference": "\0"}, "reference: not valid Python"),
    ],
)
def test_what_is_no_definition_is_refused(tmp_path: Path, changes: Any, said: str) -> None:
    with pytest.raises(UsageError, match=rf"def.json:1: .*{said}"):
        Definition.read(write(tmp_path, **changes))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "def.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"def.json:1: "):
        Definition.read(path)


def test_a_file_of_megabytes_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "def.json"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(UsageError, match="has 1073741824 bytes"):
        Definition.read(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none.json: cannot be read: No such file"):
        Definition.read(tmp_path / "none.json")


def test_what_sol_execbench_leaves_out_or_adds_is_read_and_kept(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        op_type=None,
        tags=None,
        constraints=None,
        hf_id="who/what",
        axes={**GOOD["axes"], "K": {"type": "expr", "expression": "M * 2 ** 3"}},
        inputs={"A": {"shape": ["M", "K", "1"], "dtype": "float64"}},
        custom_inputs_entrypoint="make",
        reference="def make(axes, device): ...\ndef run(A): ...\n",
    )
    made = Definition.read(path)
    assert (made.op_type, made.to_dict()["hf_id"]) == ("other", "who/what")
    assert made.get_input_shapes({"M": 2}) == [(2, 16, 1)]
    assert Definition.model_validate(made.to_dict()) == made


def test_shapes_and_axes_lead_to_each_other() -> None:
    made = Definition.model_validate(GOOD)
    assert (made.const_axes, made.var_axes) == ({"N": 4096}, ["M"])
    assert made.var_axes_bindings == {"M": ("A", 0)}
    assert made.get_axes_values([(8, 4096), None]) == {"M": 8}
    assert made.get_input_shapes({"M": 8}) == [(8, 4096), None]
    assert made.get_output_shapes({"M": 8}) == [(8,)]


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ([(8, 4096, 1), None], "A has 3 dimensions"),
        ([(8, 64), None], "A has the size 64 in the axis N"),
        ([None, None], "needs the size of M"),
    ],
)
def test_shapes_that_are_not_its_own_are_refused(shapes: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Definition.model_validate(GOOD).get_axes_values(shapes)


def test_axes_that_no_shape_tells_follow_from_constraints_and_scalars() -> None:
    document = {
        **GOOD,
        "axes": {"M": {"type": "var"}, "N": {"type": "var"}, "k": {"type": "var"}},
        "constraints": ["N == (M + 7) // 8", "A.max() < k"],
        "inputs": {"A": {"shape": ["M"], "dtype": "bool"}, "k": {"shape": None, "dtype": "int32"}},
        "outputs": {"C": {"shape": ["N", "k"], "dtype": "uint8"}},
        "reference": "def run(A, k): ...",
    }
    made = Definition.model_validate(document)

    class Bools:
        shape = (9,)

    assert made.get_axes_values_from_inputs([Bools(), 3]) == {"M": 9, "N": 2, "k": 3}
    assert made.sizes({"M": 9}, {"k": 3}) == {"M": 9, "N": 2, "k": 3}


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ({"M": 7}, "requires M % 8 == 0"),
        ({}, "needs the size of M"),
        ({"M": 8, "K": 1}, "has no axes K"),
        ({"M": 8, "N": 1}, "N of gemm_n4096 is given as 1"),
        ({"M": -8}, "M of gemm_n4096 is -8"),
    ],
)
def test_sizes_that_may_not_be_are_refused(axes: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Definition.model_validate(GOOD).sizes(axes)


@pytest.mark.parametrize(
    ("expression", "said"),
    [("N / 3", "is N / 3 = 1365.3"), ("M // 0", "has no value"), ("M + K", "cannot compute K")],
)
def test_expressions_that_are_no_size_are_refused(expression: str, said: str) -> None:
    axes = {**GOOD["axes"], "K": {"type": "expr", "expression": expression}}
    with pytest.raises(UsageError, match=said):
        Definition.model_validate({**GOOD, "axes": axes}).sizes({"M": 8})


def test_torch_knows_its_dtypes() -> None:
    made = Definition.model_validate(
        {**GOOD, "outputs": {"C": {"shape": ["M"], "dtype": "float4_e2m1"}}}
    )
    import torch

    assert made.torch_input_dtypes == [torch.float16, torch.float32]
    assert made.torch_output_dtypes == [torch.float4_e2m1fn_x2]


def test_arguments_by_name_find_their_places() -> None:
    made = Definition.model_validate(GOOD)
    assert made.merge_kwargs_to_args((1,), {"eps": 2}) == (1, 2)
    assert made.merge_kwargs_to_args((1,), {"C": 3, "eps": 2}) == (1, 2, 3)
    assert made.merge_kwargs_to_args((1, 2), {}) == (1, 2)


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((1,), {"A": 2}, "A of gemm_n4096 given twice"),
        ((1,), {"what": 2}, "has no what"),
        ((1,), {"C": 2}, "eps is missing before C"),
        ((1, 2, 3, 4), {"A": 1}, "at most 3 arguments"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(args: Any, kwargs: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Definition.model_validate(GOOD).merge_kwargs_to_args(args, kwargs)
