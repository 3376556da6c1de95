"""Recording: for a part of this process, and for a program with its exit code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl import settings
from fictl.builds.building import specs_of
from fictl.errors import FictlError
from fictl.jit.load import used
from fictl.jit.store.entry import Entry
from fictl.warmup import read, recording
from fictl.warmup.recording import record


def test_a_part_of_a_process_is_recorded(twice_build: Path, tmp_path: Path) -> None:
    with recording(tmp_path / "w.jsonl") as place:
        assert os.environ["FICTL_WARMUP_RECORD"] == str(place)
        used(specs_of(["twice"])[0], Entry.read(twice_build))
    assert settings.WARMUP_RECORD.get() is None
    assert "FICTL_WARMUP_RECORD" not in os.environ
    assert [module.module for module in read(place).modules] == ["elementwise.twice"]


def test_a_program_gets_the_variable_and_its_exit_code_is_kept(
    warmup_file: Path, tmp_path: Path
) -> None:
    script = f'cp {warmup_file} "$FICTL_WARMUP_RECORD"; exit 3'
    recorded = record(["sh", "-c", script], tmp_path / "out.jsonl")
    assert (recorded.code, recorded.modules, recorded.problem) == (3, 1, None)


def test_a_program_that_loads_nothing_is_said(tmp_path: Path) -> None:
    recorded = record(["true"], tmp_path / "out.jsonl")
    assert "no module was loaded" in str(recorded.problem)


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FictlError, match="cannot run no-such-program"):
        record(["no-such-program"], tmp_path / "out.jsonl")
