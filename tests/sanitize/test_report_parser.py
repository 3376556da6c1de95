"""Reading compute-sanitizer: what it printed on an H200, cut down, in recorded/."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fictl.emu.report import Place, Thread
from fictl.sanitize.report_parser import counted, program_output, records, unprinted
from fictl.sanitize.sanitizer_report import HostFrame, SanitizerReport

RECORDED = Path(__file__).parent / "recorded"


def read(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text(encoding="utf-8")


def only(name: str) -> SanitizerReport:
    """The first report on a kernel of the project."""
    return next(record for record in records(read(name)) if record.is_of_an_op)


def test_an_access_out_of_bounds_has_its_place_thread_size_and_allocation() -> None:
    report = only("memcheck").report
    assert report.kind == "out-of-bounds"
    assert report.kernel == "planted::planted::OutOfBoundsKernel"
    assert report.what == "a read of 4 bytes, 1 byte after an allocation of 4000 bytes"
    header = "planted/kernels/include/planted/planted/faults.cuh"
    assert (report.place.file, report.place.line) == (header, 17)
    assert report.at == Thread((15, 0, 0), (40, 0, 0))
    facts = {"space": "global", "bytes": 4, "distance": 1, "side": "after", "allocation": 4000}
    assert facts.items() <= report.facts.items()


def test_a_race_has_two_sides() -> None:
    report = only("racecheck").report
    assert (report.kind, report.kernel) == ("race", "planted::planted::SharedRaceKernel")
    assert (report.place.line, report.facts) == (25, {"hazards": 4000})
    assert report.other is not None
    assert (report.other.what, report.other.place.line) == ("a read", 26)
    assert "__syncthreads()" in report.cause


def test_unwritten_memory_is_reported_for_each_thread() -> None:
    first, second = records(read("initcheck"))
    assert first.report.kind == "uninitialised"
    assert (first.report.what, first.report.place.line) == (
        "a read of 4 bytes of global memory that nothing has written",
        33,
    )
    assert [each.report.at for each in (first, second)] == [
        Thread((8, 0, 0), (0, 0, 0)),
        Thread((8, 0, 0), (1, 0, 0)),
    ]


def test_a_barrier_that_a_part_of_a_warp_misses() -> None:
    report = only("synccheck").report
    assert (report.kind, report.place.line) == ("divergent-barrier", 41)
    assert report.what == "not all threads of a warp come to this barrier"


def test_what_torch_calls_say_after_a_fault_is_not_of_an_op() -> None:
    found = records(read("after_a_fault"))
    assert [each.report.kind for each in found if not each.is_of_an_op] == ["api-error"] * 4


def test_the_calls_on_the_host_lead_from_the_launch_to_the_test() -> None:
    host = only("initcheck").host
    assert host[0].module.endswith("/module.so")
    assert HostFrame("unwritten", "planted/kernels/planted/faults/op.py", 37) in host
    test = HostFrame("test_it_copies", "planted/tests/kernels/planted/test_faults.py", 24)
    assert test in host


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("memcheck", "out_of_bounds"),
        ("racecheck", "shared_race"),
        ("initcheck", "unwritten"),
        ("synccheck", "lost_threads"),
    ],
)
def test_the_test_that_ran_is_known_exactly(name: str, function: str) -> None:
    assert only(name).test == f"tests/kernels/planted/test_faults.py::test_it_copies[{function}]"


def test_lines_and_calls_name_the_same_test() -> None:
    """Each of them alone would do: racecheck prints no calls, older releases none of Python."""
    text = read("initcheck")
    calls = re.sub(r"^fictl: test .*$", "", text, flags=re.MULTILINE)
    lines = re.sub(r"^.*Host Frame: fictl test .*$", "", text, flags=re.MULTILINE)
    assert (
        {r.test for r in records(calls)}
        == {r.test for r in records(lines)}
        == {only("initcheck").test}
    )


@pytest.mark.parametrize(
    ("name", "all_of_them", "left_out"),
    [("memcheck", 31, 25), ("racecheck", 1, 0), ("initcheck", 1000, 994), ("after_a_fault", 5, 0)],
)
def test_the_summary_says_how_many_there_were(name: str, all_of_them: int, left_out: int) -> None:
    assert (counted(read(name)), unprinted(read(name))) == (all_of_them, left_out)


BLOCK = """
========= Invalid __shared__ write of size 16 bytes
=========     at void mine::Kernel<(int)8>(float *)+0x10 in /src/mine/a b.cuh:5
=========     by thread (1,2,3) in block (4,5,6)
=========     Access to 0x1f0 is misaligned
"""


def test_a_line_says_which_test_runs() -> None:
    one = f"fictl: test a.py::test_one[x y]\n.{BLOCK}\nfictl: test a.py::test_two\n{BLOCK}"
    assert [record.test for record in records(one)] == ["a.py::test_one[x y]", "a.py::test_two"]


def test_a_call_among_those_that_led_to_it_knows_better() -> None:
    frame = "=========         Host Frame: fictl test a.py::test_one[x] in announce.py:44\n"
    (record,) = records(f"fictl: test a.py::test_two{BLOCK}{frame}")
    assert record.test == "a.py::test_one[x]"


def test_a_report_ends_where_the_next_begins_whatever_the_program_says_between() -> None:
    lines = BLOCK.strip().splitlines()
    text = "\n".join([f"..{lines[0]}", lines[1], "the program", *lines[2:], *lines])
    first, second = records(text)
    assert first.report == second.report
    assert first.report.place == Place("/src/mine/a b.cuh", 5)
    assert first.report.at == Thread((4, 5, 6), (1, 2, 3))
    assert (first.report.kind, first.report.kernel) == ("misaligned", "mine::Kernel<(int)8>")


def test_what_is_no_report_is_left_out() -> None:
    assert records("") == []
    assert records("========= FAILURES =========\n========= COMPUTE-SANITIZER\n========= \n") == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("2 passed in 1.00s", "2 passed in 1.00s"),
        ("..========= Invalid __global__ read of size 4 bytes", ".."),
        ("=========     by thread (0,0,0) in block (0,0,0)", ""),
        ("========= ", ""),
        ("fictl: test a.py::test_one", ""),
        ("=============== FAILURES ===============", "=============== FAILURES ==============="),
    ],
)
def test_the_programs_program_output_are_told_from_those_of_the_tool(line: str, said: str) -> None:
    assert program_output(line) == said


def test_what_no_kernel_did_is_at_the_line_of_the_source_that_asked() -> None:
    title = '========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemsetAsync.\n'
    frames = (
        "=========         Host Frame: fictl::call<int>(int) in /kernels/binding/ffi.h:25 [0x2fa2f]\n"
        "=========                        in /cache/module.so\n"
        "=========         Host Frame: __tvm_ffi_sum in /mine/sum/binding.cpp:43 [0x2cbb2]\n"
        "=========                        in /cache/module.so\n"
    )
    (record,) = records(title + frames)
    assert record.report.place == Place("/mine/sum/binding.cpp", 43)
    assert record.is_of_an_op
