"""Comparing what a replay gave with what was recorded: by value, NaN-aware, by dtype."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.op.watch.dump.values import Opaque
from fictl.replay.compare import Comparison
from fictl.trace.template import TOLERANCES

NAN = float("nan")
FP4 = torch.arange(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)


def compared(actual: Any, expected: Any) -> int:
    comparison = Comparison(TOLERANCES)
    comparison.check(actual, expected, "result")
    return comparison.compared


@pytest.mark.parametrize(
    ("actual", "expected", "count"),
    [
        (torch.tensor([1.0, NAN]), torch.tensor([1.0, NAN]), 1),
        (torch.tensor([1.0]).bfloat16(), torch.tensor([1.0078125]).bfloat16(), 1),
        (FP4, FP4.clone(), 1),
        ((torch.ones(2), 3), [torch.ones(2), 3], 2),
        ({"a": torch.ones(2)}, {"a": torch.ones(2)}, 1),
        (NAN, NAN, 1),
        ("text", "text", 1),
        (None, None, 0),
        (object(), Opaque("object"), 0),
    ],
)
def test_what_is_the_same_is_counted(actual: Any, expected: Any, count: int) -> None:
    assert compared(actual, expected) == count


@pytest.mark.parametrize(
    ("actual", "expected", "said"),
    [
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, NAN]), "1 of 2 elements differ"),
        (torch.tensor([1.0]), torch.tensor([1.0078125]), "result: 1 of 1 elements differ"),
        (torch.ones(2), torch.ones(3), "result has shape"),
        (torch.ones(2), torch.ones(2).half(), "result has dtype torch.float32, recorded was"),
        (None, torch.ones(2), "result is None, recorded was a tensor"),
        ((torch.ones(2),), (torch.ones(2), 1), "is a tuple of 1, recorded was a tuple of 2"),
        (3, [1], "result is 3, recorded was a list of 1"),
        ({"a": 1}, {"b": 1}, "result has no 'b'"),
        ([1, [2]], [1, [3]], r"result\[1\]\[0\] is 2, recorded was 3"),
        ("a", "b", "result is 'a', recorded was 'b'"),
    ],
)
def test_what_differs_is_said_where(actual: Any, expected: Any, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        compared(actual, expected)
