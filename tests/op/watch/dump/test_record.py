"""Record: the last whole line counts, and a line that nobody wrote so is refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fictl.op.watch.dump.record import METADATA, Record, Refused, TensorFile

FACTS: dict[str, Any] = {
    "op": "toy.ops.halve",
    "module": "toy",
    "sequence": 1,
    "pid": 2,
    "rank": "",
    "time": "",
    "gpu": "",
    "stream": "",
    "versions": {},
    "signature": "",
    "settings": {},
    "arguments": {},
    "inputs": {"file": "inputs.pt", "size": 0, "tensors": {}},
}


@pytest.fixture
def record() -> Record:
    return Record(**{**FACTS, "inputs": TensorFile(file="inputs.pt", size=0, tensors={})})


def test_the_last_line_wins(tmp_path: Path, record: Record) -> None:
    record.append_to(tmp_path)
    done = record.model_copy(update={"status": "completed", "result": {"tuple": [1, None]}})
    done.append_to(tmp_path)
    assert Record.read(tmp_path) == done


def test_a_line_that_was_cut_off_is_none(tmp_path: Path, record: Record) -> None:
    record.append_to(tmp_path)
    with (tmp_path / METADATA).open("a") as file:
        file.write('{"format": "fictl.dump/1", "op": "to')
    assert Record.read(tmp_path) == record


def line(**changes: Any) -> str:
    return json.dumps({"format": "fictl.dump/1", **FACTS, **changes})


def inputs(**changes: Any) -> str:
    return line(inputs={"file": "inputs.pt", "size": 0, "tensors": {}, **changes})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no whole line"),
        ("{}", "is of format None; this fictl reads 'fictl.dump/1'"),
        (line(format="fictl.dump/2"), "is of format 'fictl.dump/2'"),
        ("[1]", "is of format None"),
        ('{"format": ', "is damaged"),
        ("[" * 100_000, "is damaged"),
        ("\x00\xff", "is damaged"),
        (line(sequence="1"), "is damaged: sequence: "),
        (line(status="done"), "is damaged: status: "),
        (line(extra=1), "is damaged: extra: "),
        (line(settings={"A": "a\0b"}), "is damaged: settings.A: "),
        (inputs(size=-1), "is damaged: inputs.size: "),
        (
            inputs(tensors={"x": {"shape": [-1], "stride": [1], "dtype": "int8", "device": "cpu"}}),
            "is damaged: inputs.tensors.x.shape",
        ),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / METADATA).write_bytes(text.encode("latin-1") + b"\n" * bool(text))
    with pytest.raises(Refused, match=said):
        Record.read(tmp_path)


def test_a_folder_without_metadata_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="cannot be read: No such file"):
        Record.read(tmp_path)


def test_metadata_of_many_megabytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / METADATA).write_bytes(b"x" * (17 << 20))
    with pytest.raises(Refused, match="metadata has at most"):
        Record.read(tmp_path)
