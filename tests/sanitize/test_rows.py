"""From reports to rows: whose they are, where, and how many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.arch import parse_archs
from fictl.emu.report import Other, Place, Report
from fictl.project import OpFolder, find
from fictl.sanitize.rows import rows_of
from fictl.sanitize.sanitizer_report import HostFrame, SanitizerReport
from fictl.toolchain import Gpu

HEADER = Place("/elsewhere/tiny/elementwise/twice.cuh", 9)
READ = Report("out-of-bounds", "TwiceKernel", "a read of 4 bytes", "", HEADER)
FAILED = Report("api-error", "", "cudaFree returned cudaErrorLaunchFailure", "", Place())


@pytest.fixture
def folder(tiny: Path) -> OpFolder:
    return find("twice")[0]


def rows(folder: OpFolder, *records: SanitizerReport) -> list[dict[str, Any]]:
    return list(rows_of(records, "memcheck", folder))


def test_a_row_has_op_test_tool_facts_and_words(folder, monkeypatch) -> None:
    gpu = Gpu(0, "NVIDIA H200", parse_archs("9.0")[0])
    monkeypatch.setattr("fictl.sanitize.rows.visible_gpus", lambda: (gpu,))
    (row,) = rows(folder, SanitizerReport(READ, test="test_one"))
    header = str(folder.header)
    assert row == {
        "folder": "tiny/elementwise/twice",
        "op": "twice",
        "test": "test_one",
        "tool": "memcheck",
        "kind": "out-of-bounds",
        "kernel": "TwiceKernel",
        "what": "a read of 4 bytes",
        "cause": "",
        "file": header,
        "line": 9,
        "callers": [],
        "inside": [],
        "block": None,
        "thread": None,
        "accesses": 1,
        "text": f"out-of-bounds: a read of 4 bytes\n  kernel TwiceKernel\n  at {header}:9",
        "device": "NVIDIA H200",
        "repeat": "fictl sanitize tiny/elementwise/twice --device cuda --tool memcheck -k test_one",
    }


def test_one_defect_in_one_test_is_one_row(folder) -> None:
    again = [SanitizerReport(READ, test="test_one")] * 3
    first, second = rows(folder, *again, SanitizerReport(READ, test="test_two"))
    assert (first["accesses"], second["accesses"]) == (3, 1)


def test_a_race_counts_the_times_that_it_happened(folder) -> None:
    race = Report(
        "race",
        "Kernel",
        "a write and a read",
        "",
        HEADER,
        None,
        Other("a read", HEADER, None),
        {"hazards": 40},
    )
    (row,) = rows(folder, SanitizerReport(race, test="test_one"))
    assert (row["accesses"], row["other"]["file"]) == (40, str(folder.header))


def test_what_every_call_says_after_a_fault_is_no_defect_of_its_own(folder) -> None:
    found = rows(
        folder, SanitizerReport(READ, test="test_one"), SanitizerReport(FAILED, test="test_one")
    )
    assert [row["kind"] for row in found] == ["out-of-bounds"]
    assert [row["kind"] for row in rows(folder, SanitizerReport(FAILED, test="test_one"))] == [
        "api-error"
    ]


def test_the_function_is_the_one_that_was_called_in_python(folder) -> None:
    folder.op.write_text(folder.op.read_text() + OTHER)
    frames = (HostFrame("launch", "", 0, "module.so"), HostFrame("thrice", "/x/op.py", 9))
    (row,) = rows(folder, SanitizerReport(READ, frames, "test_one"))
    assert row["op"] == "thrice"


@pytest.mark.parametrize(
    ("test", "function"),
    [
        ("contract.py::test_reference[thrice-1-int32,contiguous,seed=1]", "thrice"),
        ("contract.py::test_reference[twice-1-int32,contiguous,seed=1]", "twice"),
        ("test_twice.py::test_own[3]", "twice"),
    ],
)
def test_else_the_one_of_the_generated_test_or_the_module(folder, test: str, function: str) -> None:
    folder.op.write_text(folder.op.read_text() + OTHER)
    (row,) = rows(folder, SanitizerReport(READ, (), test))
    assert row["op"] == function


OTHER = """

@op(archs=">=8.0", dtypes="i32", mutates="out")
def thrice(input, out=None):
    "Three times."
"""
