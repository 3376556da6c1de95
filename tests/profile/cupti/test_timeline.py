"""The trace file of a profile."""

from __future__ import annotations

import json

from fictl.profile.cupti import timeline
from fictl.profile.cupti.work import BETWEEN


def saved(path, work, api=()):
    timeline.save("name", work, api, path)
    return json.loads(path.read_text())["traceEvents"]


def named(events, what):
    return {e["args"]["name"]: (e["pid"], e["tid"]) for e in events if e["name"] == what}


def test_a_gpu_is_a_process_and_a_stream_a_thread(tmp_path, kernel, h200):
    events = saved(tmp_path / "t.json", [kernel(), kernel(stream=20, start=5)])
    assert named(events, "process_name")["GPU 0: NVIDIA H200"] == (2, 0)
    assert named(events, "thread_name")["stream 20"] == (2, 20)
    spans = [e for e in events if e["ph"] == "X" and e["name"] == "k"]
    assert [(span["tid"], span["args"]["registers"]) for span in spans] == [(7, 32), (20, 32)]


def test_a_call_of_the_host_points_to_the_first_of_what_it_launched(tmp_path, kernel, api_call):
    nodes = [kernel(start=20, end=30, graph=3), kernel(start=40, end=50, graph=3)]
    events = saved(tmp_path / "t.json", nodes, [api_call(start=10, end=12, thread=3_660_304_704)])
    (begin,) = [e for e in events if e["ph"] == "s"]
    (end,) = [e for e in events if e["ph"] == "f"]
    assert (begin["pid"], begin["tid"], begin["ts"]) == (1, 0, 0.0)
    assert (end["pid"], end["tid"], end["ts"]) == (2, 7, 10.0)


def test_calls_are_a_track_and_what_lies_between_is_said(tmp_path, kernel, copy):
    work = [copy(name="fill", call=BETWEEN), kernel(start=10, end=20, call=3)]
    events = saved(tmp_path / "t.json", work)
    assert [e["ts"] for e in events if e["name"] == "call 3"] == [10.0]
    (fill,) = [e for e in events if e["name"] == "fill"]
    assert "L2" in fill["args"]["between"]
    assert not [e for e in events if e["name"] == f"call {BETWEEN}"]


def test_of_nothing_it_is_an_empty_file(tmp_path):
    assert [e["ph"] for e in saved(tmp_path / "t.json", [])] == ["M", "M"]
