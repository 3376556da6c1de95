from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.case.options import CaseOptions
from fictl.case.selection import chosen, functions
from fictl.errors import InvalidValue, UsageError
from fictl.project import OpFolder
from fictl.trace import Case

CASES = [
    Case("f", {"rows": 1, "dim": 8}, "float16"),
    Case("f", {"rows": 4, "dim": 8}, "float16"),
    Case("f", {"rows": 4, "dim": 64}, "bfloat16"),
    Case("g", {"n": 3}, "float16"),
]


def names(**options: object) -> list[str]:
    return [str(case) for case in chosen(CASES, {"f"}, CaseOptions(**options))]  # type: ignore[arg-type]


def test_cases_are_those_of_the_functions() -> None:
    assert names() == ["f-1x8-float16", "f-4x8-float16", "f-4x64-bfloat16"]


def test_a_dtype_has_a_short_name_too() -> None:
    assert names(dtype="bf16") == ["f-4x64-bfloat16"]


def test_a_text_picks_the_cases_that_have_it() -> None:
    assert names(case="4x") == ["f-4x8-float16", "f-4x64-bfloat16"]
    assert names(case="4x8, 4x64") == ["f-4x8-float16", "f-4x64-bfloat16"]


def test_scalars_tell_cases_of_one_size_apart() -> None:
    both = [CASES[0], replace(CASES[0], scalars={"causal": False, "scale": 0.5})]
    found = [str(case) for case in chosen(both, {"f"}, CaseOptions())]
    assert found == ["f-1x8-float16", "f-1x8-float16-causal=0-scale=0.5"]
    assert len(chosen(both, {"f"}, CaseOptions(case="causal=0"))) == 1


def test_a_sweep_replaces_sizes_and_gives_each_case_once() -> None:
    assert names(axes={"rows": (2, 3)}, dtype="f16") == ["f-2x8-float16", "f-3x8-float16"]


def test_two_axes_are_swept_together() -> None:
    assert len(names(axes={"rows": (2, 3), "dim": (1, 2)}, dtype="f16")) == 4


def test_an_axis_that_no_case_has_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="no case has the axes n") as caught:
        names(axes={"n": (2,)})
    assert caught.value.hint == "there are rows, dim"


def test_nothing_left_names_the_cases_there_are() -> None:
    with pytest.raises(UsageError, match="no case of f matches 9x9") as caught:
        names(case="9x9")
    assert "f-1x8-float16" in caught.value.hint


def test_an_unknown_dtype_is_an_error() -> None:
    with pytest.raises(InvalidValue, match="unknown dtype"):
        names(dtype="f17")


def test_a_named_function_is_benched_alone(hostile: OpFolder) -> None:
    assert functions(hostile, ["right"]) == {"right"}
    assert functions(hostile, ["hostile/right"]) == {"right"}


@pytest.mark.parametrize("ops", [[], ["doubling"], ["doubling", "right"], ["something_else"]])
def test_a_folder_is_benched_as_a_whole(hostile: OpFolder, ops: list[str]) -> None:
    assert {"right", "Planned"} < functions(hostile, ops)
