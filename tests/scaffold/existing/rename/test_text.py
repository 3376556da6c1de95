from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.scaffold.existing.rename.text import is_attribute, places, substitute


def said(folder, text: str) -> str:
    made = Renaming(folder, replace(folder, module="thrice", family="math"))
    return substitute(text, places(made), lambda match: match[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<tiny/elementwise/twice.cuh>", "<tiny/math/thrice.cuh>"),
        ("kernels/elementwise/twice/op.py", "kernels/math/thrice/op.py"),
        ("tests/kernels/elementwise/test_twice.py", "tests/kernels/math/test_thrice.py"),
        (
            "from tiny.elementwise.twice.jit import module",
            "from tiny.math.thrice.jit import module",
        ),
        ("<tiny/elementwise/twice_as.cuh>", "<tiny/elementwise/twice_as.cuh>"),
        ("<fictl/elementwise/twice.cuh>", "<fictl/elementwise/twice.cuh>"),
        ("fictl.kernels.elementwise.twice.op", "fictl.kernels.elementwise.twice.op"),
        ("elementwise/other.cuh", "elementwise/other.cuh"),
    ],
)
def test_paths_and_modules_lead_to_the_new_place(twice, text: str, expected: str) -> None:
    assert said(twice, text) == expected


def test_what_a_place_became_is_not_read_again() -> None:
    rules = ((r"a/b", lambda _: "word"),)
    assert substitute("a/b word", rules, lambda match: match[0] * 2) == "word wordword"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.word", True),
        ("f().word", True),
        ("word", False),
        ("end. word", False),
        ("...word", False),
    ],
)
def test_what_belongs_to_something_else_is_an_attribute(text: str, expected: bool) -> None:
    found: list[bool] = []
    substitute(text, (), lambda match: found.append(is_attribute(match)) or "")
    assert found[-1] is expected
