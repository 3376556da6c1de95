"""The trace file of several ranks."""

from __future__ import annotations

import json
from dataclasses import replace

from fictl.profile.cupti.work import ApiCall
from fictl.profile.ranks.clocks import common_clock
from fictl.profile.ranks.statistics import calls_of, spans_of
from fictl.profile.ranks.timeline import save

from .conftest import EPOCH


def saved(path, *recordings):
    clock = common_clock([one.clock for one in recordings])
    calls = calls_of([spans_of(one.work) for one in recordings], clock)
    gpus = [f"GPU {rank}" for rank in range(len(recordings))]
    save("sum", recordings, gpus, calls, clock, path)
    return json.loads(path.read_text())["traceEvents"]


def test_a_rank_is_a_process_with_its_calls_and_streams(tmp_path, recording):
    events = saved(tmp_path / "t.json", recording((0, 10)), recording((4, 12)))
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {1: "rank 0: GPU 0", 2: "rank 1: GPU 1"}
    spans = {(e["pid"], e["tid"]): e for e in events if e["ph"] == "X" and e["name"] == "sum"}
    assert [(place, spans[place]["ts"]) for place in sorted(spans)] == [((1, 7), 0), ((2, 7), 4)]
    (call,) = [e for e in events if e["name"] == "call 0" and e["pid"] == 2]
    assert call["args"] == {"us after the first rank": 4, "us of waiting": 0, "slowest rank": 0}


def test_arrows_of_two_ranks_have_numbers_of_their_own(tmp_path, recording):
    """Launches of two processes have equal correlation numbers."""
    api = ApiCall("cudaLaunchKernel", EPOCH - 2_000, EPOCH - 1_000, 0, 1, 3_660_304_704)
    both = [replace(recording(span), api=(api,)) for span in ((0, 10), (4, 12))]
    events = saved(tmp_path / "t.json", *both)
    begins = {e["id"]: e["pid"] for e in events if e["ph"] == "s"}
    assert sorted(begins.values()) == [1, 2]
    assert {e["id"]: e["pid"] for e in events if e["ph"] == "f"} == begins
