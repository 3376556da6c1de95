from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.op.declared import Op
from fictl.op.decorator import op
from fictl.op.watch.definition_dump import DefinitionDump
from fictl.op.watch.observed import observed
from fictl.trace import Const, Tensor, TraceTemplate, Var

ROOT = Path(__file__).resolve().parents[3]


def _reference(input: torch.Tensor) -> torch.Tensor:
    return input * 2


TRACE = TraceTemplate(
    axes={"rows": Var("tokens"), "hidden": Const("width", "h")},
    inputs={"input": Tensor(("rows", "hidden"))},
    outputs={"out": Tensor(("rows", "hidden"), dtype_from="input")},
    reference=_reference,
)


@op(archs=">=8.0", dtypes="f16 f32", mutates="", trace=TRACE)
def double(input: Any) -> Any:
    return input * 2


def watched(folder: Path) -> Any:
    return observed(double, double.op, [DefinitionDump(folder)])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_every_distinct_case_is_one_file(tmp_path: Path) -> None:
    folder, call = tmp_path / "new" / "folder", watched(tmp_path / "new" / "folder")
    for rows in (1, 2, 3):
        call(torch.ones(rows, 8))
        call(torch.ones(rows, 8).half())
        call(torch.ones(rows, 16))
    assert names(folder) == ["double_h16_f32.json", "double_h8_f16.json", "double_h8_f32.json"]
    made = json.loads((folder / "double_h8_f16.json").read_text())
    assert made["axes"]["rows"] == {"type": "var", "description": "tokens"}
    assert made["inputs"]["input"]["dtype"] == "float16"


def test_the_same_definition_on_disk_is_left_alone(tmp_path: Path, caplog: Any) -> None:
    watched(tmp_path)(torch.ones(1, 8))
    path = tmp_path / "double_h8_f32.json"
    before = path.stat().st_mtime_ns
    watched(tmp_path)(torch.ones(2, 8))
    assert (path.stat().st_mtime_ns, caplog.records) == (before, [])


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The warnings, as they reach the user."""
    texts: list[str] = []
    logger = type("Logger", (), {"warning": lambda self, text, *words: texts.append(text % words)})
    for place in ("fictl.log.logger", "fictl.op.watch.definition_dump.logger"):
        monkeypatch.setattr(place, logger)
    return lambda: texts


def test_another_definition_of_the_name_stays_and_both_are_named(tmp_path: Path, said: Any) -> None:
    path = tmp_path / "double_h8_f32.json"
    path.write_text("{}")
    watched(tmp_path)(torch.ones(1, 8))
    (text,) = said()
    assert str(path) in text
    assert "double_h8_f32 of" in text
    assert path.read_text() == "{}"


def test_what_cannot_be_written_is_one_warning_and_calls_go_on(tmp_path: Path, said: Any) -> None:
    (tmp_path / "file").touch()
    call = watched(tmp_path / "file")
    for rows in (1, 2):
        assert call(torch.ones(rows, 8)).sum() == rows * 16
        call(torch.ones(rows, 16))
    assert [text.startswith("no definitions of ") for text in said()] == [True]


def test_an_op_without_a_trace_is_one_warning(tmp_path: Path, said: Any) -> None:
    bare = Op("bare", *(double.op.archs, (), (), ()), module="json.decoder")
    call = observed(lambda input: input, bare, [DefinitionDump(tmp_path)])
    assert call(1) == 1
    assert call(2) == 2
    assert len(said()) == 1


def test_no_half_a_file_is_left(tmp_path: Path, monkeypatch: Any, said: Any) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fictl.paths.os.replace", full)
    watched(tmp_path)(torch.ones(1, 8))
    assert names(tmp_path) == []
    assert "No space left" in said()[0]


def test_by_default_it_is_off_and_then_the_current_folder(tmp_path: Path, users_cache: Any) -> None:
    code = (
        "import torch, fictl.ops\n"
        "fictl.ops.rmsnorm(torch.ones(2, 8).half(), torch.ones(8).half())\n"
    )
    for value, expected in (("", []), ("1", ["rmsnorm_h8_f16.json"])):
        env = {
            **os.environ,
            "FICTL_DEVICE": "emu",
            "FICTL_TRACE_DUMP": value,
            "PYTHONPATH": str(ROOT),
        }
        argv = [sys.executable, "-c", code]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert [name for name in names(tmp_path) if name.endswith(".json")] == expected
