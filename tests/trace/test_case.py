from __future__ import annotations

from fictl.trace import Case


def test_it_is_named_by_function_sizes_and_dtype() -> None:
    assert str(Case("rmsnorm", {"rows": 32, "hidden": 4096}, "bfloat16")) == (
        "rmsnorm-32x4096-bfloat16"
    )


def test_without_axes_its_name_has_a_gap() -> None:
    assert str(Case("noop", {}, "float16")) == "noop--float16"


def test_the_optional_inputs_that_it_passes_are_in_its_name() -> None:
    assert str(Case("rmsnorm", {"rows": 2}, "float16", ("bias",))) == "rmsnorm-2-float16-bias"
