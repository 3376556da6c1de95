"""Files that ui.perfetto.dev opens."""

from __future__ import annotations

import json

import pytest

from fictl.errors import SetupError
from fictl.profile.chrome_trace import ChromeTrace

BASE = 1_795_312_100_000_000_000


def events(trace: ChromeTrace, path) -> list[dict]:
    trace.save(path)
    return json.loads(path.read_text())["traceEvents"]


def test_times_are_microseconds_since_the_base_to_the_nanosecond(tmp_path):
    trace = ChromeTrace(BASE, {})
    trace.span((1, 2), "a", BASE + 1001, BASE + 3502, grid=(1, 2, 3))
    (span,) = events(trace, tmp_path / "t.json")
    assert span == {
        "ph": "X",
        "pid": 1,
        "tid": 2,
        "ts": 1.001,
        "dur": 2.501,
        "name": "a",
        "args": {"grid": [1, 2, 3]},
    }


def test_what_holds_others_stands_before_them(tmp_path):
    trace = ChromeTrace(0, {})
    trace.span((1, 2), "inner", 1000, 2000)
    trace.span((1, 2), "outer", 1000, 9000)
    assert [span["name"] for span in events(trace, tmp_path / "t.json")] == ["outer", "inner"]


def test_an_arrow_leads_from_one_span_to_another(tmp_path):
    trace = ChromeTrace(0, {})
    trace.arrow(7, (1, 2), 1000, (3, 4), 5000)
    begin, end = events(trace, tmp_path / "t.json")
    assert (begin["ph"], begin["id"], begin["pid"], begin["ts"]) == ("s", 7, 1, 1.0)
    assert (end["ph"], end["id"], end["pid"], end["bp"]) == ("f", 7, 3, "e")


def test_processes_stand_in_the_order_they_were_named(tmp_path):
    trace = ChromeTrace(0, {})
    trace.process(9, "host")
    trace.process(2, "GPU")
    order = [e for e in events(trace, tmp_path / "t.json") if e["name"] == "process_sort_index"]
    assert [(each["pid"], each["args"]["sort_index"]) for each in order] == [(9, 0), (2, 1)]


def test_an_instant_has_a_track(tmp_path):
    trace = ChromeTrace(0, {})
    trace.instant((1, 2), "here", 1500)
    assert events(trace, tmp_path / "t.json")[0]["ph"] == "i"


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="cannot be written"):
        ChromeTrace(0, {}).save(tmp_path / "file" / "t.json")
