"""Numbers of a kernel whose events are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.profile.events.recording import Happened, Kernel, Recording, Warp
from fictl.profile.events.result import EventsResult
from fictl.profile.events.statistics import EventRow, SmRow, event_rows, quantile, sm_rows
from fictl.profile.events.timeline import write_trace


def warp(block: int, sm: int, begin: float, *lengths: float, lost: int = 0) -> Warp:
    """Of 100 ns: an instant after 1 ns, then a `load` of each of these lengths."""
    loads = (Happened("load", begin + 10, begin + 10 + length) for length in lengths)
    events = (Happened("mark", begin + 1, None), *loads)
    return Warp(block, 0, sm, begin, begin + 100, events, lost)


KERNEL = Kernel(
    "k", 3, 1, 1, 1, (warp(0, 3, 0, 10), warp(1, 5, 20, 20), warp(2, 3, 100, 30, lost=2))
)


def result(*kernels: Kernel, path: Path = Path("trace.json")) -> EventsResult:
    return EventsResult("p/f/op", "op-1", "", 16, Recording(kernels, 0.5, 32), path)


def test_an_event_s_durations_and_its_share_of_the_warps_time() -> None:
    mark, load = event_rows(KERNEL)
    assert mark == EventRow("mark", 3, 1)
    assert load == EventRow("load", 3, 10, 20, 11, 29, 30, pytest.approx(0.2))


def test_sms_begin_and_end() -> None:
    assert sm_rows(KERNEL) == [SmRow(3, 2, 0, 200), SmRow(5, 1, 20, 120)]


def test_of_a_part_of_the_blocks_nothing_is_said_of_sms() -> None:
    assert sm_rows(replace(KERNEL, blocks=64)) == []


def test_a_quantile_lies_between_its_neighbours() -> None:
    assert [quantile([1, 2, 4], part) for part in (0, 0.5, 0.75, 1)] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("kernel", "warning"),
    [
        (KERNEL, "k: 2 events of 1 warps found no room behind 16 each: --events 18 has room"),
        (Kernel("k", 1, 1, 1, 2, (warp(0, 0, 0),), launch=0), "k: launched 2 times in a call"),
        (
            Kernel("k", 1, 1, 1, 1, (Warp(0, 0, 0, 0, 1, (), ended=False),)),
            "k: 1 warps did not come to the end",
        ),
    ],
)
def test_what_is_not_there_is_said(kernel: Kernel, warning: str) -> None:
    (said,) = result(kernel).warnings
    assert said.startswith(warning)


def test_a_program_gets_all_of_it() -> None:
    data = json.loads(json.dumps(result(KERNEL).to_dict()))
    (kernel,) = data["kernels"]
    assert (kernel["recorded_blocks"], kernel["blocks"], kernel["lost"]) == (3, 3, 2)
    assert [row["name"] for row in kernel["events"]] == ["mark", "load"]
    assert [row["sm"] for row in kernel["sms"]] == [3, 5]


def test_the_trace_has_a_process_for_each_sm_and_a_thread_for_each_warp(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    write_trace(Recording((KERNEL,), 0.5, 32), path, "op-1")
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    names = {event["args"]["name"] for event in events if event["name"].endswith("_name")}
    assert names == {"SM 3", "SM 5", "block 0 warp 0", "block 1 warp 0", "block 2 warp 0"}
    (load,) = (e for e in events if e["name"] == "load" and e["pid"] == 5)
    assert (load["ph"], load["ts"], load["dur"]) == ("X", 0.03, 0.02)
    (mark,) = (e for e in events if e["name"] == "mark" and e["pid"] == 5)
    assert (mark["ph"], mark["ts"], mark["tid"]) == ("i", 0.021, load["tid"])
