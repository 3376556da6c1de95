from __future__ import annotations

from fictl.cli.columns import Columns

ROWS = [
    ("name", "dtypes", "built"),
    ("  scale", "f16 bf16 f32", "no"),
    ("  a_function_with_a_very_long_name_indeed", "f16 bf16 f32 e4m3 e5m2", "built 9.0a"),
]


def _lines(width: int) -> list[str]:
    columns = Columns(ROWS, width)
    return [line for row in ROWS for line in columns.lines(row)]


def test_where_all_fits_each_row_is_a_line() -> None:
    assert len(_lines(100)) == 3
    assert _lines(100)[0].startswith(f"{'name':41}  dtypes")


def test_a_long_name_has_a_line_of_its_own_and_is_whole() -> None:
    lines = _lines(70)
    assert lines[2] == ROWS[2][0]
    assert lines[3].split() == [*ROWS[2][1].split(), *ROWS[2][2].split()]
    assert max(map(len, lines)) <= 70


def test_cells_are_wrapped_at_words() -> None:
    lines = _lines(52)
    assert max(map(len, lines)) <= 52
    assert " ".join(lines).split().count("e5m2") == 1


def test_a_terminal_that_is_too_narrow_breaks_no_word() -> None:
    words = {word for row in ROWS for cell in row for word in cell.split()}
    assert {word for line in _lines(10) for word in line.split()} == words


def test_paint_does_not_count() -> None:
    columns = Columns(ROWS, 100)
    (line,) = columns.lines(ROWS[1], lambda cell: f"<{cell}>")
    assert line.replace("<", "").replace(">", "") == _lines(100)[1]
