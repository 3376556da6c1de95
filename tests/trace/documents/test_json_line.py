from __future__ import annotations

import pytest

from fictl.trace.documents.json_line import line_of

TEXT = """{
  "a": {"x": "}", "b\\"": [1,
    {"c": 2}, "]"]},
  "d":
    [[], {}, [
      7]], "e": null
}"""


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ((), 1),
        (("a",), 2),
        (("a", 'b"'), 2),
        (("a", 'b"', 1, "c"), 3),
        (("d",), 4),
        (("d", 2), 5),
        (("d", 2, 0), 6),
        (("e",), 6),
        (("a", "missing"), 2),
        (("d", 9), 4),
        (("e", "x"), 6),
    ],
)
def test_a_field_stands_on_its_line(field: tuple[str | int, ...], line: int) -> None:
    assert line_of(TEXT, field) == line
