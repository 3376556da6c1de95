from __future__ import annotations

import pytest

from fictl.arch import Arch
from fictl.errors import InvalidValue
from fictl.op.backend.capability import arch_rule, capability


@pytest.mark.parametrize("value", [90, "9.0", "90", "sm_90", Arch(9, 0)])
def test_a_compute_capability_has_many_spellings(value: object) -> None:
    assert capability(value) == Arch(9, 0)


@pytest.mark.parametrize("value", [9.0, True, None, "nine", 9, [90]])
def test_what_is_none_is_refused_in_words(value: object) -> None:
    with pytest.raises(InvalidValue, match=r"not a compute capability|unknown architecture"):
        capability(value)


@pytest.mark.parametrize(
    ("declared", "runs", "does_not"),
    [
        ([80, 90], (80, 90), (86, 100)),
        ("9.0a 10.0f", (90, 100, 103), (80, 120)),
        (">=8.0", (80, 120), (75,)),
        ([80, "9.0a", ">=10.0"], (80, 90, 103), (86,)),
        (89, (89,), (80,)),
    ],
)
def test_a_rule_is_a_number_a_text_or_a_list(
    declared: object, runs: tuple[int, ...], does_not: tuple[int, ...]
) -> None:
    rule = arch_rule(declared)
    assert all(rule.supports(capability(cc)) for cc in runs)
    assert not any(rule.supports(capability(cc)) for cc in does_not)


@pytest.mark.parametrize("value", [[], [8.0], "8"])
def test_a_rule_that_means_nothing_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue):
        arch_rule(value)
