"""fictl replay: what is said of each dump, and with which exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.op.watch.dump.record import METADATA
from fictl.replay.outcome import ReplayOutcome
from fictl.replay.recording.messages import CallOutcome
from fictl.report.finding import DefectFinding


@pytest.fixture
def dumps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two dumps, of which nothing is read; the working folder has it."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / "dumps" / name).mkdir(parents=True)
        (tmp_path / "dumps" / name / METADATA).touch()
    return Path("dumps")


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Replay every dump with these statuses; the list fills with what was asked."""

    def use(*statuses: str, **more: Any) -> list[Any]:
        calls: list[Any] = []
        coming = iter(statuses)

        def replay(path: Path, device: str, timeout: float, under: str) -> ReplayOutcome:
            calls.append((str(path), device, timeout, *filter(None, [under])))
            return ReplayOutcome(
                str(path), "toy.ops.halve", next(coming), device="emu", under=under, **more
            )

        monkeypatch.setattr("fictl.replay.replay_dumps.replay", replay)
        return calls

    return use


def test_a_folder_of_dumps_is_a_line_each(fictl, dumps, answer) -> None:
    calls = answer("match", "no reference", seconds=1.24)
    said = fictl("replay", str(dumps))
    assert said.code == 0
    assert said.out.splitlines() == [
        "✓ match  one   1.2 s  emulated",
        "! no reference  two   1.2 s  emulated",
    ]
    assert calls == [("dumps/one", "", 600.0), ("dumps/two", "", 600.0)]


@pytest.mark.parametrize(("status", "code"), [("mismatch", 1), ("error", 1), ("refused", 2)])
def test_what_went_wrong_is_shown_with_its_reason(fictl, dumps, answer, status, code) -> None:
    answer(status, detail="out[0]: [bold] differs", hint="look there")
    said = fictl("replay", str(dumps / "one"))
    assert said.code == code
    assert said.out.splitlines()[0].startswith(f"✗ {status}  one")
    assert said.out.splitlines()[1:] == ["  out[0]: [bold] differs", "  hint: look there"]


def test_json_has_an_item_for_each_dump(fictl, dumps, answer) -> None:
    answer("match", "mismatch", detail="they differ")
    said = fictl("replay", "dumps", "--json")
    assert said.code == 1
    assert (said.document["schema"], said.document["ok"]) == ("fictl.replay/1", False)
    assert said.document["data"][1] == {
        "dump": "dumps/two",
        "op": "toy.ops.halve",
        "status": "mismatch",
        "detail": "they differ",
        "hint": "",
        "device": "emu",
        "seconds": 0.0,
        "under": "",
    }


@pytest.mark.parametrize("by", ["flag", "environment"])
def test_device_and_time_are_handed_on(fictl, dumps, answer, monkeypatch, by: str) -> None:
    calls = answer("match")
    words = ["--device", "emu"] if by == "flag" else []
    if not words:
        monkeypatch.setenv("FICTL_DEVICE", "emu")
    fictl("replay", "dumps/one", "--timeout", "3", *words)
    assert calls == [("dumps/one", "emu", 3.0)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((".",), "is not a dump, and has none in it"),
        (("nowhere",), "nowhere is not a folder"),
        ((), "DUMP"),
        (("dumps", "--device", "tpu"), "--device='tpu' cannot be read"),
        (("dumps", "--under", "valgrind"), "--under valgrind: nothing of that name looks at calls"),
        (("dumps", "--under", "debug"), "fictl debug takes a dump"),
    ],
)
def test_a_request_that_means_nothing_is_exit_code_2(fictl, dumps, answer, words, said) -> None:
    calls = answer()
    found = fictl("replay", *words)
    assert found.code == 2
    assert said in found.err
    assert calls == []


def test_nothing_that_is_compiled_for_gpus_is_needed_for_a_refusal(fictl, dumps) -> None:
    said = fictl("replay", "dumps/one")
    assert said.code == 2
    assert "has no whole line" in said.out


def test_a_defect_is_shown_as_sanitize_shows_it_and_accepted_ones_are_counted(
    fictl, dumps, answer, tmp_path: Path
) -> None:
    text = f"race: write after read\n  at {tmp_path}/k.cuh:3"
    accepted = DefectFinding({"text": "a leak"}, suppressed="of torch")
    calls = answer(
        "defect",
        findings=(DefectFinding({"kind": "race", "text": text}), accepted),
        detail="as it was",
    )
    said = fictl("replay", "dumps/one", "--under", "racecheck")
    assert said.code == 1
    assert said.out.splitlines() == [
        "✗ defect  one   0.0 s  emulated  under racecheck",
        "  race: write after read",
        "    at k.cuh:3",
        "  1 suppressed",
        "  as it was",
    ]
    assert calls[0][3] == "racecheck"


TIME = {
    "median": 12.3e-6,
    "interval": [12.2e-6, 12.4e-6],
    "timer": "cupti",
    "cold": True,
    "copies": 9,
    "kernels": [{"name": "HalveKernel", "seconds": 6e-6, "calls": 2}],
    "why": "",
    "changes": ["x"],
}


def test_a_time_is_a_line_with_what_it_was_measured_on(fictl, dumps, answer) -> None:
    answer("match", time=TIME)
    said = fictl("replay", "dumps/one", "--under", "bench")
    assert said.out.splitlines()[1:] == [
        "  12.3 us (12.2 us to 12.4 us at 95 %)  cupti  cold L2, 9 copies of the call",
        "  HalveKernel  6.00 us x 2",
        "  it changes x: of each copy, the first call alone found what was dumped",
    ]


def test_a_profile_is_its_table_and_in_json_its_numbers(fictl, dumps, answer) -> None:
    answer("match", "match", profile={"text": "halve\n\nkernel  grid", "total": 1e-5})
    assert fictl("replay", "dumps/one", "--under", "profile").out.splitlines()[1:] == [
        "  halve",
        "",
        "  kernel  grid",
    ]
    data = fictl("replay", "dumps/one", "--under", "profile", "--json").document["data"]
    assert (data[0]["under"], data[0]["profile"]) == ("profile", {"total": 1e-5})


def test_what_this_machine_cannot_do_is_exit_code_3(fictl, dumps, answer) -> None:
    answer("error", code=3, detail="there is no GPU here")
    assert fictl("replay", "dumps/one").code == 3


def test_calls_of_a_recording_that_did_not_match_are_a_line_each(fictl, dumps, answer) -> None:
    wrong = CallOutcome(7, "flashinfer.merge_state", "refused", "fictl does not have it")
    answer("refused", detail="3 match, 1 refused", calls=(wrong,))
    said = fictl("replay", str(dumps / "one"))
    assert said.code == 2
    assert said.out.splitlines()[1:] == [
        "  step 7  flashinfer.merge_state  refused: fictl does not have it",
        "  3 match, 1 refused",
    ]
