from __future__ import annotations

import pytest

from fictl.printable import printable, printable_document


@pytest.mark.parametrize("text", ["", "a b", "é ✓ 漢字", "two\nlines\tand a tab"])
def test_plain_text_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    "bad",
    ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\r", "\x00", "\x08", "\u202e", "\u2028", "\ud800"],
)
def test_commands_of_terminals_are_escaped(bad: str) -> None:
    text = printable(f"before{bad}after")
    assert text.isprintable()
    assert text.startswith("before")
    assert text.endswith("after")
    assert printable_document({bad: [bad, 1, None]}) == {printable(bad): [printable(bad), 1, None]}


def test_lines_are_kept_where_they_may_be() -> None:
    assert printable("a\nb") == "a\nb"
    assert printable("a\nb", kept="") == "a\\nb"
