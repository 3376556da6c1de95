"""fictl tune, as it is typed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fictl.cli import main
from fictl.op.tactics import recorded

TESTS = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def tuned_project(tiny: Path) -> Path:
    shutil.copytree(TESTS / "tuned_project", tiny, dirs_exist_ok=True)
    recorded.forget()
    return tiny


def _tune(*words: str) -> int:
    return main(["tune", "twice", "--device", "emu", *words])


def _document(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_the_candidates_are_shown_with_their_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert _tune("--dtype", "f16") == 0
    out = capsys.readouterr().out
    for text in (
        "the emulated device · host · warm L2",
        "! emulated: these are times of the host",
        "twice  input=float16 d=8 n<=8",
        "✓ 1 ",
        "x  FASTER",
        "refused: 13 is unlucky",
        "1 of 1 faster than the default",
        "to use it: FICTL_AUTOTUNER_LOAD_FROM_FILE=1",
    ):
        assert text in out


def test_the_document_has_every_candidate(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert _tune("--json", "--file", str(tmp_path / "own.json"), "--case", "float16") == 0
    document = _document(capsys)
    assert (document["schema"], document["ok"]) == ("fictl.tune/1", True)
    (key,) = document["data"]["keys"]
    assert (key["op"], key["key"]) == ("tiny.ops.twice", "input=float16 d=8 n<=8")
    measured = key["measured"]
    assert measured["winner"] == 1
    assert [row["tactic"] for row in measured["candidates"]] == [4, 1, 3, 13]
    assert (tmp_path / "own.json").is_file()


def test_dry_run_measures_and_writes_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert _tune("--json", "--dry-run", "--file", str(tmp_path / "own.json")) == 0
    keys = _document(capsys)["data"]["keys"]
    assert [key["case"] for key in keys] == ["twice-5x8-float32", "twice-5x8-float16"]
    assert not (tmp_path / "own.json").exists()


def test_what_cannot_be_tuned_fails_with_its_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: object) -> None:
        raise MemoryError("no room for copies")

    monkeypatch.setattr("fictl.tune.tuning_trial.TuningTrial.run", broken)
    assert _tune("--json", "--dtype", "f16") == 1
    assert "no room for copies" in _document(capsys)["error"]["message"]


def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "twice", "--json"]) == 3
    assert "on a GPU, and there is none" in _document(capsys)["error"]["message"]


def test_a_case_that_there_is_not_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert _tune("--case", "9x9") == 2
    assert "no case matches 9x9" in capsys.readouterr().err


def test_what_another_place_tuned_is_kept_here(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    places, file = tmp_path / "places.toml", tmp_path / "own.json"
    places.write_text('[[place]]\nname = "far"\nlaunch = ["env"]\n')
    words = ("--on", str(places), "--file", str(file), "--case", "float16")
    assert _tune("--json", *words) == 0
    (tuning,) = _document(capsys)["data"]["tunings"]
    assert (tuning["place"], tuning["gpu"]) == ("far", "the emulated device")
    assert [key["measured"]["winner"] for key in tuning["keys"]] == [1]
    assert len(json.loads(file.read_text())["ops"]) == 1
