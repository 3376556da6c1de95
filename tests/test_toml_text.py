from __future__ import annotations

import pytest

from fictl.toml_text import TomlError, parse_toml


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        "a." * 100_000 + "b = 1",
        "[" + "a." * 100_000 + "b]",
        "a = " + "{b = " * 100_000,
        "a =",
        "a = 1\na = 2",
        "\x00",
    ],
    ids=["lists", "key", "table", "inline", "nothing", "twice", "nul"],
)
def test_every_text_that_is_none_is_told_in_no_time(text: str) -> None:
    with pytest.raises(TomlError, match=r"\(at (line \d+, column \d+|end of document)\)"):
        parse_toml(text)


def test_dots_outside_of_keys_are_nobody_s_business() -> None:
    dots = "." * 200
    assert parse_toml(f"a.b = '{dots}'  # {dots}\nc = '''\n{dots}\n'''\n")["a"] == {"b": dots}
