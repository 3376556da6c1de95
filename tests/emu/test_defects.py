"""Check mode finds each defect and names its place and cause, and says nothing of correct kernels."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fictl.emu.device import Watched
from fictl.emu.report import Report

from .causes import CAUSES
from .planted import COPIES, MEMORY, RACES, SYNC, Defect, View, y_of
from .planted_warps import LANES, MASKS, MORE, PARTS

KERNELS = Path(__file__).with_name("kernels")
LAUNCH_FAILURE = 719
GOES_ON = {"race", "uninitialised", "read-only"}  # the kernel ends by itself
REFUSED = "bad-launch"  # mostly before it has begun


SOURCES = {
    "defects_memory.cu": MEMORY,
    "defects_races.cu": RACES,
    "defects_copies.cu": COPIES,
    "defects_sync.cu": SYNC,
    "defects_warp.cu": LANES,
    "defects_masks.cu": MASKS,
    "defects_parts.cu": PARTS,
    "defects_more.cu": MORE,
}
ALL = [
    pytest.param(source, defect, id=defect.name)
    for source, defects in SOURCES.items()
    for defect in defects
]
CORRECT = {
    "defects_none.cu": [
        "warp_aggregated_atomics",
        "histogram",
        "block_reduction_in_a_loop",
        "block_scan",
        "double_buffered_pipeline",
        "spin_lock",
        "semaphore_between_blocks",
        "shared_memory_used_twice",
        "same_value_by_all",
        "producer_and_consumer",
        "threads_that_return_early",
        "two_launches_in_order",
        "variables_of_the_module",
        "work_of_the_host",
    ],
    "defects_none_in_warps.cu": [
        "flag_between_warps",
        "flag_between_lanes",
        "turns_of_lanes",
        "flag_in_global_memory",
        "two_flags",
        "flag_beside_plain_memory",
        "flag_by_ptx",
        "flag_that_is_taken_back",
        "volatile_of_its_own",
        "slots_of_a_hash_table",
        "tree_over_half_a_warp",
        "neighbours_of_a_tail",
        "votes_behind_a_return",
        "groups_of_their_own_size",
        "short_last_warp",
        "masks_one_after_another",
        "barrier_on_both_sides_of_a_branch",
        "group_of_those_who_are_there",
    ],
}

Outcome = tuple[int, list[Report]]


@pytest.fixture
def run(
    compiler, emulate, device, schedule, monkeypatch
) -> Iterator[Callable[[str, Defect, bool], Outcome]]:
    memory = {"x": (ctypes.c_float * 1024)(), "y": (ctypes.c_float * 1024)()}
    memory["x"][:] = [(i * 37 % 101) / 7 - 5 for i in range(1024)]
    flags = (ctypes.c_int * 64)()

    def run(source: str, defect: Defect, bug: bool) -> Outcome:
        views = defect.views or (View("x", (1024,)), y_of(1024))
        watched = [_watched(view, ctypes.addressof(memory[view.memory])) for view in views]
        device.watch([*watched, Watched("flags", ctypes.addressof(flags), 4, (64,), (1,), True)])
        function = getattr(emulate(source, checked=True), defect.name)
        # What hangs is waited for with a core at work; what does not may share a busy machine.
        monkeypatch.setenv("FICTL_EMU_TIMEOUT", "1" if defect.kind == "hang" and bug else "10")
        device.run_under(schedule)
        code = function(bug, memory["x"], memory["y"], flags, defect.n)
        return code, device.take_reports()

    yield run
    device.watch(())


def _watched(view: View, address: int) -> Watched:
    return Watched(
        view.name,
        address + view.offset,
        view.itemsize,
        view.shape,
        view.strides,
        view.memory == "y",
    )


def _line(source: str, number: int) -> str:
    return (KERNELS / source).read_text().splitlines()[number - 1]


@pytest.mark.parametrize(("source", "defect"), ALL)
def test_the_bug_is_found_and_named(run, compiler: str, source: str, defect: Defect) -> None:
    if compiler == defect.unseen_by:
        pytest.skip(f"{compiler} does not tell the runtime")
    code, reports = run(source, defect, bug=True)
    kinds = {report.kind for report in reports}
    assert defect.kind in kinds
    # What is read too early may not have been written at all, and what a barrier of the wrong
    # threads does not order is a race before the barrier is found to be wrong.
    follows = {"uninitialised"} | ({"race"} if defect.kind == "barrier-mismatch" else set())
    assert kinds <= {defect.kind, *follows}
    assert (code == 0) == (defect.kind in GOES_ON)
    assert code in (0, LAUNCH_FAILURE) or defect.kind == REFUSED
    found = [report for report in reports if _is(report, source, defect)]
    assert found, "\n".join(report.text() for report in reports)
    strangers = {r.kernel for r in reports if not r.kernel.endswith("_kernel<true>")}
    assert not strangers
    assert all(report.at for report in found) or defect.kind == REFUSED
    causes = {report.cause for report in reports if report.kind == defect.kind}
    assert any(re.search(CAUSES[defect.name], cause) for cause in causes), causes


def _is(report: Report, source: str, defect: Defect) -> bool:
    text = report.text()
    return (
        all(re.search(words, text) for words in defect.says)
        and _lies(report.place, source, defect.at)
        and (
            not defect.other_at
            or _lies(report.other and report.other.place, source, defect.other_at)
        )
    )


def _lies(place, source: str, piece: str) -> bool:
    """Whether the place, or one that it was inlined at, is a line with this piece."""
    if not place or not piece:
        return not piece
    places = [str(place), *place.callers]
    lines = [int(at.rpartition(":")[2]) for at in places if at.rpartition(":")[0].endswith(source)]
    return any(piece in _line(source, line) for line in lines)


@pytest.mark.parametrize(("source", "defect"), ALL)
def test_nothing_is_said_of_its_correct_twin(run, source: str, defect: Defect) -> None:
    code, reports = run(source, defect, bug=False)
    assert [report.text() for report in reports] == []
    assert code == 0


@pytest.mark.parametrize(
    ("source", "name"), [(source, name) for source in CORRECT for name in CORRECT[source]]
)
def test_nothing_is_said_of_a_correct_kernel(run, source: str, name: str) -> None:
    code, reports = run(source, Defect(name, "", "", ()), bug=False)
    assert [report.text() for report in reports] == []
    assert code == 0
