"""From the runtime's JSON lines to what people and programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fictl.emu import report as reports
from fictl.emu.report import Other, Place, Report, Thread, read_reports
from fictl.emu.symbols import Frame
from fictl.emu.toolchain import HEADERS

AT = {"block": [1, 0, 0], "thread": [5, 2, 0]}
RACE = {
    "kind": "race",
    "kernel": "Sum",
    "at": AT,
    "what": "read after write",
    "cause": "no barrier",
    "file": "sum.cuh",
    "line": 7,
    "bytes": 4,
    "other": {"what": "write", "file": "sum.cuh", "line": 5, "at": {**AT, "thread": [6, 2, 0]}},
}


def one(**row: Any) -> Report:
    (read,) = read_reports(json.dumps({"kind": "trap", "kernel": "K", **row}) + "\n")
    return read


@pytest.fixture
def debug_info(monkeypatch: pytest.MonkeyPatch) -> dict[int, tuple[Frame, ...]]:
    """What addr2line would say of each offset in any module; asked for once a module."""
    known: dict[int, tuple[Frame, ...]] = {}
    asked: list[str] = []

    def frames(module: str, offsets: set[int]) -> dict[int, tuple[Frame, ...]]:
        assert module not in asked
        asked.append(module)
        return {offset: known.get(offset, ()) for offset in offsets}

    monkeypatch.setattr(reports, "frames", frames)
    return known


def test_nothing_reported_is_no_report() -> None:
    assert read_reports("") == []


def test_every_line_is_a_report() -> None:
    lines = "".join(json.dumps({"kind": kind, "kernel": "K"}) + "\n" for kind in ("trap", "hang"))
    assert [report.kind for report in read_reports(lines)] == ["trap", "hang"]


def test_what_the_runtime_says_is_kept_word_by_word() -> None:
    report = one(**RACE)
    assert (report.what, report.cause) == ("read after write", "no barrier")
    assert report.place == Place("sum.cuh", 7)
    assert report.at == Thread((1, 0, 0), (5, 2, 0))
    assert report.other == Other("write", Place("sum.cuh", 5), Thread((1, 0, 0), (6, 2, 0)))
    assert report.facts == {"bytes": 4}


def test_what_it_leaves_out_is_said_for_it() -> None:
    report = one(kind="null-pointer", address=16)
    assert report.what == "an access at address 0x10"
    assert "a null pointer" in report.cause


def test_people_read_headline_place_other_side_and_cause() -> None:
    assert one(**RACE).text().splitlines() == [
        "race: read after write",
        "  kernel Sum, block (1,0,0), thread (5,2,0)",
        "  at sum.cuh:7",
        "  write at sum.cuh:5, block (1,0,0), thread (6,2,0)",
        "  cause: no barrier",
    ]


def test_people_read_which_threads_wait_where() -> None:
    groups = [{"threads": "0-31", "what": "wait at a.cuh:3"}]
    report = one(kind="deadlock", file="a.cuh", line=3, groups=groups)
    assert "  threads 0-31 wait at a.cuh:3" in report.text().splitlines()


def test_a_report_of_the_host_has_no_line_for_kernel_and_thread() -> None:
    report = one(kernel="", what="too many threads", file="a.cu", line=3)
    assert report.text() == "trap: too many threads\n  at a.cu:3"


def test_programs_read_the_same_and_every_fact() -> None:
    data = json.loads(json.dumps(one(**RACE).to_dict()))
    assert data == {
        "kind": "race",
        "kernel": "Sum",
        "what": "read after write",
        "cause": "no barrier",
        "file": "sum.cuh",
        "line": 7,
        "callers": [],
        "inside": [],
        **AT,
        "bytes": 4,
        "other": {
            "what": "write",
            "file": "sum.cuh",
            "line": 5,
            "callers": [],
            "inside": [],
            "block": [1, 0, 0],
            "thread": [6, 2, 0],
        },
    }


def test_a_report_without_a_thread_says_so_to_programs() -> None:
    data = one().to_dict()
    assert (data["block"], data["thread"]) == (None, None)


def test_an_address_becomes_the_line_and_the_calls_that_led_there(debug_info) -> None:
    debug_info[16] = (Frame("Load", "load.cuh", 4), Frame("Kernel", "kernel.cuh", 30))
    report = one(place={"module": "m.so", "offset": 16})
    assert report.place == Place("load.cuh", 4, ("kernel.cuh:30",))
    assert "    called at kernel.cuh:30" in report.text().splitlines()


def test_lines_of_the_emulator_itself_are_left_out(debug_info) -> None:
    debug_info[16] = (
        Frame("atomicAdd", str(HEADERS / "fictl_emu" / "atomic.h"), 9),
        Frame("std::exchange", "/usr/include/c++/12/utility", 1),
        Frame("Kernel", "kernel.cuh", 30),
    )
    assert one(place={"module": "m.so", "offset": 16}).place == Place("kernel.cuh", 30)


def test_where_all_is_the_emulators_its_line_is_better_than_none(debug_info) -> None:
    inside = str(HEADERS / "fictl_emu" / "atomic.h")
    debug_info[16] = (Frame("atomicAdd", inside, 9),)
    assert one(place={"module": "m.so", "offset": 16}).place == Place(inside, 9)


def test_both_sides_are_looked_up_at_once(debug_info) -> None:
    debug_info[16], debug_info[32] = (Frame("K", "k.cuh", 1),), (Frame("K", "k.cuh", 2),)
    other = {"what": "write", "place": {"module": "m.so", "offset": 32}}
    report = one(place={"module": "m.so", "offset": 16}, other=other)
    assert report.other is not None
    assert (report.place.line, report.other.place.line) == (1, 2)


def test_an_address_without_debug_info_is_named_by_its_module(debug_info) -> None:
    report = one(place={"module": "/cache/m.so", "offset": 16})
    assert "at m.so+0x10" in report.text()


def test_a_report_without_any_place_is_still_readable() -> None:
    assert "at an unknown line" in one().text()


def test_a_kernel_is_called_by_its_functions_name_where_that_is_known(debug_info) -> None:
    debug_info[64] = (Frame("Sum<float>", "sum.cuh", 3),)
    launched = {"kernel": "void(*)(float*)", "function": {"module": "m.so", "offset": 64}}
    assert one(**launched).kernel == "Sum<float>"


def test_else_as_the_launch_wrote_it_without_types(debug_info) -> None:
    launched = {"kernel": "void Sum<float>(float*, int)", "function": {"module": "m", "offset": 1}}
    assert one(**launched).kernel == "Sum<float>"


def test_one_file_is_asked_once_for_many_reports(debug_info, tmp_path: Path) -> None:
    debug_info.update({n: (Frame("K", "k.cuh", n),) for n in (1, 2, 3)})
    rows = [{"kind": "trap", "kernel": "K", "place": {"module": "m", "offset": n}} for n in (3, 1)]
    found = read_reports("\n".join(map(json.dumps, rows)))
    assert [report.place.line for report in found] == [3, 1]
