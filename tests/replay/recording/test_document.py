"""A recording's file: it is read back as it was written, and a stranger's is held to its bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fictl.op.watch.dump.record import Refused
from fictl.replay.recording.document import (
    AttributeRead,
    Called,
    GraphEvent,
    Made,
    Recording,
    StorageEntry,
    View,
    Written,
)

VIEW = View(storage=0, dtype="int32", shape=(2, 3), stride=(4, 1), offset=1)
RECORDING = Recording(
    program="engine 1.0",
    scene="decode",
    api="flashinfer 0.7.2",
    storages=[StorageEntry(bytes=32, place="cuda")],
    views=[VIEW],
    steps=[
        Made(object="o0", name="flashinfer.Wrapper", args=[{"tensor": "0"}, "NHD"]),
        Written(view=0, runs=[(0, 1, 6)]),
        AttributeRead(object="o0", name="_window_left", value=-1),
        GraphEvent(graph="g0", event="capture"),
        Called(object="o0", name="run", kwargs={"q": {"tensor": "0"}}, result={"tensor": "0"}),
    ],
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "calls.json"
    path.write_text(RECORDING.text(), encoding="utf-8")
    return path


def test_it_is_read_as_it_was_written_with_a_line_for_each_step(file: Path) -> None:
    assert Recording.read(file) == RECORDING
    steps = file.read_text(encoding="utf-8").partition('"steps": [\n')[2]
    assert len(steps.splitlines()) == len(RECORDING.steps) + 2


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"format": "fictl.calls/2"}, "format"),
        ({"more": 1}, "more"),
        (
            {"storages": [{"bytes": 1 << 40, "place": "cuda"}]},
            r"\d{13} bytes, and \d+ are the most",
        ),
        ({"storages": [{"bytes": 31, "place": "cuda"}]}, "ends at byte 32 of a storage of 31"),
        ({"storages": [{"bytes": 32, "place": "elsewhere"}]}, "place"),
        ({"storages": []}, "in storage 0, of which there is none"),
        ({"views": [{**VIEW.model_dump(), "stride": [-4, 1]}]}, "stride"),
        ({"views": [{**VIEW.model_dump(), "stride": [1]}]}, "is in storage 0"),
        ({"views": [{**VIEW.model_dump(), "dtype": "load"}]}, "'load' is not a dtype"),
        (
            {"views": [{**VIEW.model_dump(), "shape": [1] * 65, "stride": [1] * 65}]},
            "tensor 0 ends",
        ),
        ({"steps": [{"kind": "write", "view": 1, "runs": []}]}, "writes to tensor 1 of 1"),
        ({"steps": [{"kind": "write", "view": 0, "runs": [[0, 0, 1 << 50]]}]}, "which has 6"),
        (
            {
                "views": [{**VIEW.model_dump(), "shape": [1 << 50, 1], "stride": [0, 1]}],
                "steps": [{"kind": "write", "view": 0, "runs": [[0, 0, 1 << 50]]}],
            },
            "writes 1125899906842624 elements to tensor 0, which share places",
        ),
        ({"steps": [{"kind": "call", "name": "../x"}]}, "name"),
        ({"steps": [{"kind": "exec"}]}, "kind"),
    ],
)
def test_what_is_damaged_or_asks_for_too_much_is_refused(
    file: Path, changes: dict[str, Any], refusal: str
) -> None:
    file.write_text(json.dumps({**json.loads(RECORDING.text()), **changes}), encoding="utf-8")
    with pytest.raises(Refused, match=refusal):
        Recording.read(file)


def test_what_is_no_json_and_what_is_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_text('{"format": "fictl.c')
    for name in ("torn.json", "none.json"):
        with pytest.raises(Refused, match=name):
            Recording.read(tmp_path / name)
