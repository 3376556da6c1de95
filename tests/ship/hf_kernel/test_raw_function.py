"""Functions that a thin file can carry, and those that it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import find
from fictl.ship.hf_kernel.compiled import specs_to_export, stems
from fictl.ship.hf_kernel.raw_function import raw_functions


def test_a_function_has_the_parameters_of_its_binding_and_the_words_of_its_op() -> None:
    (scale,), left_out = raw_functions(find("fictl/scale")[0])
    assert scale.signature == "scale(out: torch.Tensor, input: torch.Tensor, factor: float) -> None"
    assert scale.doc.startswith("Compute input * factor")
    assert left_out == ()


def test_the_size_of_a_workspace_comes_along() -> None:
    functions, _ = raw_functions(find("fictl/fp8")[0])
    names = [function.name for function in functions]
    assert "per_tensor_quant_fp8_workspace" in names
    assert {function.result for function in functions} == {"None", "int"}


def test_what_python_puts_together_is_left_out_by_name() -> None:
    functions, left_out = raw_functions(find("fictl/from_logits")[0])
    assert [function.name for function in functions] == ["sampling_from_logits"]
    assert len(left_out) == 1
    assert left_out[0].startswith("top_k_top_p_sampling_from_logits is put together in Python")


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("segment_sum", "SegmentSum is put together in Python"),
        ("prefill", "BatchPrefillWithPagedKVCacheWrapper is put together in Python"),
        ("router", "tinygemm_bf16 is put together in Python"),
        ("single", "is composed of other ops"),
    ],
)
def test_an_op_that_plans_in_python_is_refused(op: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        raw_functions(find(f"fictl/{op}")[0])


def test_modules_that_differ_in_one_parameter_are_named_by_it() -> None:
    assert stems(specs_to_export(find("fictl/renorm")[0], ())) == [
        "type_float",
        "type_half",
        "type_nv_bfloat16",
    ]


def test_modules_that_python_chooses_among_are_refused() -> None:
    with pytest.raises(UsageError, match=r"which of its \d+ modules runs is chosen in Python"):
        stems(specs_to_export(find("fictl/dense")[0], ()))


def test_a_function_whose_parameters_cannot_be_read_takes_any(tiny: Path) -> None:
    (twice,), _ = raw_functions(find("twice")[0])
    assert twice.signature == "twice(*arguments: object) -> object"
