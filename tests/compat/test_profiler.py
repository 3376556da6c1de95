"""A buffer of FlashInfer's profiler macros, written by hand, as a trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from fictl.compat.flashinfer.profiler import EventType, decode_tag, export_to_perfetto_trace

BEGIN, END, INSTANT = (each.value for each in EventType)


def word(block: int, group: int, event: int, kind: int, sm: int, at: int, groups: int = 2) -> int:
    return at << 32 | sm << 24 | (block * groups + group) << 12 | event << 2 | kind


def buffer(*words: int, blocks: int = 4, groups: int = 2) -> torch.Tensor:
    numbers = [groups << 32 | blocks, *words]
    signed = [number - (1 << 64) if number >> 63 else number for number in numbers]
    return torch.tensor(signed, dtype=torch.int64).view(torch.uint64)


def test_a_tag_has_five_fields() -> None:
    tag = word(block=3, group=1, event=1000, kind=INSTANT, sm=131, at=0)
    assert decode_tag(tag, 4, 2) == (3, 1, 1000, INSTANT, 131)


def test_a_trace_has_a_process_an_sm_and_a_span_an_event(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    words = (
        word(0, 0, 0, BEGIN, 5, 1000),
        word(0, 0, 1, BEGIN, 5, 1100),
        0,
        word(0, 0, 1, END, 5, 1300),
        word(0, 0, 0, END, 5, 2000),
        word(1, 1, 2, INSTANT, 200, 0xFFFFFFFF),
        word(1, 1, 0, END, 200, 0xFFFFFFFF),
    )
    export_to_perfetto_trace(buffer(*words), ["load", "mma", "ready"], str(path))
    events = json.loads(path.read_text())["traceEvents"]
    spans = {
        each["name"]: (each["pid"], each["ts"], each["dur"]) for each in events if each["ph"] == "X"
    }
    assert spans == {"load": (5, 0.0, 1.0), "mma": (5, 0.1, 0.2)}
    assert [each["name"] for each in events if each["ph"] == "i"] == ["ready"]
    named = {each["args"].get("name") for each in events if each["ph"] == "M"}
    assert {"SM 5", "SM 200", "block 0 group 0", "block 1 group 1"} <= named


def test_a_buffer_that_is_none_is_refused(tmp_path: Path) -> None:
    file = str(tmp_path / "x")
    with pytest.raises(ValueError, match=r"torch\.float32"):
        export_to_perfetto_trace(torch.zeros(4), [], file)
    with pytest.raises(ValueError, match="no number of groups"):
        export_to_perfetto_trace(torch.zeros(4, dtype=torch.int64), [], file)
    with pytest.raises(ValueError, match="event 1 has no name"):
        export_to_perfetto_trace(buffer(word(0, 0, 1, BEGIN, 0, 1)), ["one"], file)
    assert not (tmp_path / "x").exists()
