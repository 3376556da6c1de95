"""The source page: lines with their samples, by function and launch."""

from __future__ import annotations

from collections.abc import Sequence

from fictl.profile.ncu.source import parse_source

HEAD = (
    "Line No",
    "Source",
    "Address",
    "Source",
    "# Samples",
    "stall_barrier",
    "stall_long_sb",
    "stall_selected",
    "stall_long_sb (Not Issued)",
)


def table(path: str, function: str, *rows: Sequence[object]) -> str:
    """As ncu writes it, but for columns that nothing is read from."""
    every = [("File Path", path), ("Function Name", function), HEAD, *rows]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in every)


def line(number: int) -> Sequence[object]:
    """What it sums up of its instructions is not read: inlined ones are in several lines."""
    return (number, f"code {number};", "-", "-", 999, 9, 9, 9, 9)


def code(address: int, barrier: int = 0, long: int = 0, selected: int = 0) -> Sequence[object]:
    samples = barrier + long + selected
    return ("", "", f"0x{address}", "LDG R0", samples, barrier, long, selected, 99)


CUT = ("", "", "...", "...", "-", "-", "-", "-", "-")


def test_a_recorded_page_is_read(recorded) -> None:
    ((function, (lines,)),) = parse_source(recorded("source.csv")).items()
    assert function.startswith("void fictl::norm::RMSNormKernel<__nv_bfloat16")
    first = lines[0]
    assert (first.place, first.samples, first.stall) == ("rmsnorm_part.cuh:103", 4096, "long_sb")
    assert first.text == "values(x);"
    assert first.stalls["long_sb"] == 4060


def test_lines_come_with_most_samples_first_from_all_files() -> None:
    text = table("/a/k.cuh", "void K<1>()", line(3), code(10, long=5), CUT, line(4), code(20))
    text += table("/a/v.cuh", "void K<1>()", line(9), code(30, selected=20))
    ((lines,),) = parse_source(text).values()
    assert [(each.place, each.samples) for each in lines] == [("v.cuh:9", 20), ("k.cuh:3", 5)]
    assert lines[1].text == "code 3;"


def test_a_line_waits_for_what_is_neither_selected_nor_nothing() -> None:
    text = table("k.cuh", "K", line(3), code(1, 1, 3, 5), line(4), code(2, selected=8))
    ((lines,),) = parse_source(text).values()
    assert [each.stall for each in lines] == ["long_sb", ""]
    assert lines[1].to_dict()["stall"] is None


def test_an_inlined_instruction_counts_once_for_the_line_with_the_least_code() -> None:
    shared = code(10, long=5)
    rows = (line(3), shared, code(11, long=1), code(12, long=1), line(4), shared, code(11, long=1))
    ((lines,),) = parse_source(table("k.cuh", "K", *rows)).values()
    assert [(each.number, each.samples) for each in lines] == [(4, 6), (3, 1)]


def test_an_inlined_instruction_counts_for_the_nearest_file() -> None:
    text = table("cuda.h", "K", line(7), code(10, long=5))
    text += table("k.cuh", "K", line(3), code(10, long=5), code(11, long=2))
    ((lines,),) = parse_source(text, lambda path: path == "k.cuh").values()
    assert [(each.place, each.samples) for each in lines] == [("k.cuh:3", 7)]


def test_a_file_that_comes_once_more_begins_another_launch() -> None:
    one, two = code(10, long=5), code(10, long=7)
    found = parse_source(table("k.cuh", "K", line(3), one) + table("k.cuh", "K", line(3), two))
    assert [lines[0].samples for lines in found["K"]] == [5, 7]


def test_accesses_to_local_memory_are_counted_where_they_are_executed() -> None:
    head = [*HEAD, "Instructions Executed", "Address Space"]
    rows = [head, (*line(3), 99, "-"), (*code(10), 32, "Local"), (*code(11), 64, "Global")]
    text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    ((lines,),) = parse_source(f'"File Path","k.cuh"\n"Function Name","K"\n{text}').values()
    assert [(each.number, each.samples, each.local) for each in lines] == [(3, 0, 32)]


def test_the_same_table_once_more_is_the_same_launch() -> None:
    text = table("k.cuh", "K", line(3), code(10, long=5))
    assert len(parse_source(text + text)["K"]) == 1


def test_machine_code_alone_has_no_lines() -> None:
    text = '"Kernel Name","K"\n"Address","Source","# Samples"\n"0x10","LDG R0","7"\n'
    assert parse_source(text) == {}
    assert parse_source("==WARNING== no line info") == {}
