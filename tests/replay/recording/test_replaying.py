"""A recording is replayed in a process of its own; what cannot be played says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.child.program import Program
from fictl.process import Finished
from fictl.replay.recording.document import Recording
from fictl.replay.recording.messages import CallOutcome, PlayAnswer
from fictl.replay.recording.play_worker import main
from fictl.replay.replay_dumps import replay


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "calls.json"
    recording = Recording(
        program="engine 1", scene="idle", api="flashinfer 0.7.2", storages=[], views=[], steps=[]
    )
    path.write_text(recording.text(), encoding="utf-8")
    return path


@pytest.fixture
def finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the worker in this process."""

    def run(program: Program, timeout: float) -> Finished:
        main([f"@{program.files[0]}", str(program.files[1])])
        return Finished((), 0, "", 0.0)

    monkeypatch.setattr(Program, "run", run)


def test_a_recording_is_one_outcome_with_its_program_s_name(file: Path, finished: None) -> None:
    outcome = replay(file, "emu", 60.0)
    assert (outcome.op, outcome.status, outcome.device) == ("engine 1: idle", "no reference", "emu")


def test_calls_that_went_wrong_are_kept(
    file: Path, finished: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = (CallOutcome(0, "f", "match"), CallOutcome(1, "g", "mismatch", "they differ"))
    monkeypatch.setattr(Program, "answer", lambda program, kind: PlayAnswer(calls))
    outcome = replay(file, "emu", 60.0)
    assert (outcome.status, outcome.calls, outcome.exit_code) == ("mismatch", calls[1:], 1)
    assert outcome.to_dict()["calls"][0]["detail"] == "they differ"


def test_a_tool_that_looks_at_one_call_is_refused(file: Path) -> None:
    outcome = replay(file, "emu", 60.0, "memcheck")
    assert (outcome.status, outcome.exit_code) == ("refused", 2)
    assert "--under memcheck looks at one call" in outcome.detail


def test_without_a_gpu_and_without_emu_the_environment_is_at_fault(file: Path) -> None:
    outcome = replay(file, "", 60.0)
    assert (outcome.status, outcome.exit_code) == ("error", 3)
    assert "--device emu" in outcome.hint


def test_a_damaged_file_is_refused(file: Path) -> None:
    file.write_text("{}", encoding="utf-8")
    outcome = replay(file, "emu", 60.0)
    assert (outcome.status, outcome.exit_code) == ("refused", 2)
