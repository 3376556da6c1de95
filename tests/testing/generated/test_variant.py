from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.testing.generated.layout import MemoryLayout
from fictl.testing.generated.variant import CaseVariant, choose
from fictl.trace import Case

HALF = Case("norm", {"rows": 3, "hidden": 64}, "float16")
FLOAT = Case("norm", {"rows": 3, "hidden": 64}, "float32", ("bias",))
EVERY = [
    *(CaseVariant(case, layout, 7) for case in (HALF, FLOAT) for layout in MemoryLayout),
    CaseVariant(HALF, MemoryLayout.CONTIGUOUS, 7, "zeros"),
]


@pytest.mark.parametrize("variant", EVERY, ids=str)
def test_its_text_chooses_it_and_no_other(variant: CaseVariant) -> None:
    assert choose(EVERY, str(variant)) == [variant]


def test_its_text_is_what_one_would_type() -> None:
    assert str(EVERY[1]) == "norm-3x64-float16,strided,seed=7"
    assert str(EVERY[-1]) == "norm-3x64-float16,contiguous,zeros,seed=7"


def test_a_case_is_all_of_its_variants() -> None:
    assert choose(EVERY, "norm-3x64-float32-bias") == EVERY[5:10]
    assert len(choose(EVERY, "norm-3x64-float16")) == 6


def test_a_part_may_be_left_out() -> None:
    chosen = choose(EVERY, "norm-3x64-float16, strided")
    assert [str(each) for each in chosen] == ["norm-3x64-float16,strided,seed=7"]
    assert choose(EVERY, "norm-3x64-float16,zeros") == EVERY[-1:]


@pytest.mark.parametrize("text", ["norm-3x64-float61", "norm-3x64-float16,upright", "norm"])
def test_what_is_none_names_those_near_it(text: str) -> None:
    with pytest.raises(UsageError, match=f"there is no case '{text}'") as info:
        choose(EVERY, text)
    assert "norm-3x64-float16" in info.value.hint


def test_near_a_case_are_cases_and_near_a_variant_variants() -> None:
    hints = []
    for text in ("norm-3x64-float61", "norm-3x64-float61,zeros"):
        with pytest.raises(UsageError) as info:
            choose(EVERY, text)
        hints.append(info.value.hint)
    assert hints[0] == "near it: norm-3x64-float16   norm-3x64-float32-bias"
    assert hints[1].endswith(",seed=7")


def test_where_there_are_none_nothing_is_near() -> None:
    with pytest.raises(UsageError, match="no case 'norm'") as info:
        choose([], "norm")
    assert info.value.hint == "the op has none"
