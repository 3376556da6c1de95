"""A line on the scores of attention: as C++ of one place, as torch of all of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from fictl.errors import UsageError
from fictl.scaffold.new.expression import Score
from fictl.scaffold.new.signature import Scalar

SCALARS = (Scalar("w"), Scalar("n", "int"), Scalar("flag", "bool"))


def score(text: str) -> Score:
    """With those of the scalars that are in it."""
    found = Score(text)
    found = replace(found, scalars=tuple(each for each in SCALARS if each.name in found.names))
    found.check()
    return found


def test_names_are_those_that_a_caller_gives() -> None:
    found = score("abs(q_idx - kv_idx) <= w and head % n == 0")
    assert found.names == ("w", "n")
    assert found.places == ("q_idx", "kv_idx", "head")
    assert found.is_mask
    assert not score("logit * w").is_mask


@pytest.mark.parametrize(
    ("text", "cpp"),
    [
        ("abs(q_idx - kv_idx) <= w", "abs(at.query - at.key) <= w"),
        (
            "q_idx // n == kv_idx // 4",
            "by_n.quotient(at.query) == fictl::device::floor_divide(at.key, 4)",
        ),
        (
            "0 <= q_idx - kv_idx < w or flag",
            "(0 <= at.query - at.key && at.query - at.key < w) || flag",
        ),
        ("w * tanh(logit / w)", "w * fictl::device::fast_tanh(logit * inverse_of_w)"),
        ("logit - kv_head if flag else logit", "flag ? logit - at.kv_head : logit"),
    ],
)
def test_it_is_written_as_one_would_in_cpp(text: str, cpp: str) -> None:
    assert score(text).cpp() == cpp


@pytest.mark.parametrize(
    "text",
    [
        "0 <= q_idx - kv_idx < w or kv_idx < min(n, 3) and not (head % 2 == 1)",
        "not (q_idx == kv_idx or flag) if head > 1 else max(q_idx, kv_idx, n) > w",
        "where(flag, q_idx > kv_idx, q_idx // n <= kv_idx // n)",
        "w * tanh(logit / w) - 2 ** (-(head + 1) / n) * abs(q_idx - kv_idx)",
        "where(kv_idx % n == kv_head, logit, min(logit, w)) + exp(-w) + floor(q_idx / n)",
        "max(logit, min(w, kv_idx)) * float(head) + int(logit) + sqrt(abs(logit))",
    ],
)
@pytest.mark.parametrize("flag", [False, True])
def test_torch_gives_for_all_scores_what_python_gives_for_each(text: str, flag: bool) -> None:
    heads, queries, keys = 4, 5, 7
    given = {"w": 2.5, "n": 3, "flag": flag}
    many: dict[str, Any] = {
        "logit": torch.randn(heads, queries, keys, dtype=torch.float64) * 4,
        "q_idx": torch.arange(queries)[:, None],
        "kv_idx": torch.arange(keys),
        "head": torch.arange(heads)[:, None, None],
        "kv_head": torch.arange(heads)[:, None, None] // 2,
    }
    found = eval(score(text).torch([]), {"torch": torch, "math": math}, {**many, **given})
    words = {"where": lambda c, a, b: a if c else b, **vars(math)}
    shape = (heads, queries, keys)
    found = found.expand(shape)
    for place in torch.cartesian_prod(*map(torch.arange, shape)):
        at = tuple(place.tolist())
        one = {name: each.expand(shape)[at].item() for name, each in many.items()}
        expected = eval(text, words, {**one, **given})
        assert found[at].item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("q_idx +", "is not an expression"),
        ("q_idx + kv_idx", "neither a condition nor of the logit"),
        ("where(flag, q_idx, kv_idx)", "neither a condition nor of the logit"),
        ("logit > w", "a condition where a number is wanted"),
        ("q_idx > foo(w)", "did you mean 'floor'"),
        ("[q_idx] > w", "has no translation"),
    ],
)
def test_what_is_neither_mask_nor_logit_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        score(text)
