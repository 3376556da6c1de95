"""fictl replay: what is said of each dump, and with which exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.op.watch.dump.record import METADATA
from fictl.replay.outcome import Outcome


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

        def replay(path: Path, device: str, timeout: float) -> Outcome:
            calls.append((str(path), device, timeout))
            return Outcome(str(path), "toy.ops.halve", next(coming), device="emu", **more)

        monkeypatch.setattr("fictl.replay.run.replay", replay)
        return calls

    return use


def test_a_folder_of_dumps_is_a_line_each(fictl, dumps, answer) -> None:
    calls = answer("match", "no reference", seconds=1.24)
    said = fictl("replay", str(dumps))
    assert said.code == 0
    assert said.out.splitlines() == [
        "✓ match  one   1.2 s  emulated", "! no reference  two   1.2 s  emulated",
    ]  # fmt: skip
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
        "dump": "dumps/two", "op": "toy.ops.halve", "status": "mismatch",
        "detail": "they differ", "hint": "", "device": "emu", "seconds": 0.0,
    }  # fmt: skip


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
        ((".",), "is no dump, and has none in it"),
        (("nowhere",), "nowhere is no folder"),
        ((), "DUMP"),
        (("dumps", "--device", "tpu"), "--device='tpu' cannot be read"),
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
