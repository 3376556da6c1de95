from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.trace.dataset.chosen import is_chosen, nearest, require_known


@pytest.mark.parametrize(
    ("name", "patterns", "chosen"),
    [
        ("gemm", (), True),
        ("gemm", ("gemm",), True),
        ("gemm_n8", ("gemm",), False),
        ("gemm_n8", ("norm", "gemm_*"), True),
        ("gemm [v2]", ("gemm [v2]",), True),
        ("Gemm", ("gemm",), False),
    ],
)
def test_patterns_choose(name: str, patterns: tuple[str, ...], chosen: bool) -> None:
    assert is_chosen(name, patterns) is chosen


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("gem", ["gemm", "norm"], "is it gemm?"),
        ("zzz", ["gemm", "norm"], "there are gemm, norm"),
        ("zzz", [], "there are none"),
        (
            "zzz",
            [f"n{i}" for i in range(11)],
            "there are n0, n1, n2, n3, n4, n5, n6, n7 and 3 more",
        ),
    ],
)
def test_the_nearest_is_told(name: str, known: list[str], hint: str) -> None:
    assert nearest(name, known) == hint


def test_each_of_them_is_there() -> None:
    require_known(["a", "b*"], ["a", "bb"], "thing")
    with pytest.raises(UsageError, match="there is no thing 'c'"):
        require_known(["a", "c"], ["a", "bb"], "thing")
