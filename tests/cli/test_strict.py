"""Texts that no option of any command can mean."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("a\nb", "control character"),
        ("\x1b[31m", "control character"),
        ("x" * 20_000, "longer than 10000 characters"),
    ],
)
@pytest.mark.parametrize("option", ["--expr", "--family", "--input", "--doc"])
def test_an_option_that_says_nothing_that_can_be_meant_is_refused(
    fictl, repo, option: str, text: str, said: str
) -> None:
    answer = fictl("new-op", "fresh", f"{option}={text}", "--dry-run")
    assert answer.code == 2
    assert option in answer.err
    assert said in answer.err
    assert len(answer.err) < 500


def test_an_argument_that_is_empty_is_refused(fictl, repo) -> None:
    assert fictl("where", "").code == 2


def test_an_option_that_is_left_out_may_be_empty(fictl, repo) -> None:
    assert fictl("new-op", "fresh", "--expr", "x * 2", "--dry-run").code == 0
