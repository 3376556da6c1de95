"""What is read from nvcc's trace, and what happens where there is none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fictl.jit.build_time import device_trace
from fictl.jit.build_time.device_trace import demangled, read_trace, supported


def _event(what: str, microseconds: int, **args: str) -> dict[str, object]:
    return {"ph": "X", "name": what, "dur": microseconds, "ts": 0, "args": args}


def _write(path: Path, *events: object) -> Path:
    path.write_text(json.dumps({"traceEvents": [{}, {"ph": "M", "name": "x"}, *events]}))
    return path


def test_seconds_of_all_targets_are_added(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "t.json",
        _event("Processing Header File", 300_000, detail="/inc/../inc/a.h"),
        _event("Processing Header File", 200_000, detail="/inc/a.h"),
        _event("Optimizing compilation unit", 50_000, name="kernel"),
        _event("OptFunction", 25_000, detail="kernel"),
        _event("OptFunction", 99_000, detail="inlined"),
    )
    trace = read_trace(path)
    assert trace is not None
    assert trace.headers == pytest.approx({Path("/inc/a.h"): 0.5})
    assert trace.kernels == pytest.approx({"kernel": 0.075})


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"traceEvents": [{"ph": "X"}]}', "null"])
def test_a_trace_of_another_make_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text)
    assert read_trace(tmp_path / "t.json") is None


def test_a_trace_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_trace(tmp_path / "t.json") is None


def test_an_old_nvcc_is_not_asked_for_one(use_nvcc) -> None:
    assert not supported(use_nvcc("12.0"))


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="needs c++filt, of binutils")
def test_names_are_shown_without_parameters() -> None:
    assert demangled(["_Z5scalePf", "plain"]) == ["scale", "plain"]


def test_without_binutils_names_stay_as_they_are(monkeypatch) -> None:
    monkeypatch.setattr(device_trace.shutil, "which", lambda _: None)
    assert demangled(["_Z5scalePf"]) == ["_Z5scalePf"]
    assert demangled([]) == []
