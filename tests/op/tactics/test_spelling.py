from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch

from fictl.errors import UsageError
from fictl.op.tactics.spelling import key_text, label, spelled


class Tile(NamedTuple):
    rows: int
    swizzled: bool = False


@pytest.mark.parametrize(
    ("tactic", "plain", "text"),
    [
        (Tile(64), {"rows": 64, "swizzled": False}, "rows=64 swizzled=False"),
        ({"stages": 3}, {"stages": 3}, "stages=3"),
        (7, 7, "7"),
        ("split", "split", "split"),
    ],
)
def test_a_tactic_is_spelled(tactic: Any, plain: Any, text: str) -> None:
    assert (spelled(tactic), label(spelled(tactic))) == (plain, text)


@pytest.mark.parametrize("tactic", [None, object(), [1], {"tile": [1, 2]}])
def test_what_json_cannot_tell_apart_is_no_tactic(tactic: Any) -> None:
    with pytest.raises(UsageError, match="is not a tactic"):
        spelled(tactic)


def test_a_key_reads_like_the_sizes_that_it_stands_for() -> None:
    labels, values = ["causal", "", "q", "d", "n<=", "m<="], [True, 0, torch.half, 128, 10, None]
    assert key_text(labels, values) == "causal=True q=float16 d=128 n<=1024 m=None"
