"""One call run again: its arguments come back, and what it gives and writes is compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.op.watch.dump.record import METADATA, Refused
from fictl.replay.dump import Dump
from fictl.replay.one import main, replay_one


def replayed(path: Path) -> tuple[str, str]:
    return replay_one(Dump.open(path), "cpu")


def test_the_same_again_is_a_match(dump) -> None:
    assert replayed(dump(torch.ones(3))) == ("match", "")


def test_nan_where_nan_was_is_a_match(dump) -> None:
    assert replayed(dump(torch.tensor([1.0, float("nan"), float("inf")])))[0] == "match"


def test_another_result_is_a_mismatch_that_says_where(dump, toy: Path) -> None:
    path = dump(torch.ones(3))
    (toy / "wrong").touch()
    status, detail = replayed(path)
    assert status == "mismatch"
    assert "result: 3 of 3 elements differ; worst at (0,): 1.5, reference 0.5" in detail


def test_enums_and_scalars_come_back(dump) -> None:
    from toy.few.halve.op import Round  # type: ignore[import-not-found]

    path = dump(torch.tensor([3.0]), 4.0, Round.DOWN)
    assert replayed(path) == ("match", "")
    record = Dump.open(path).record
    assert record.arguments["by"] == 4.0
    assert record.arguments["round"] == {"enum": ["toy.few.halve.op", "Round", "DOWN"]}


def test_an_argument_written_beside_the_result_is_compared(dump, edit) -> None:
    path = dump(torch.ones(3), count=torch.zeros(1))
    assert replayed(path) == ("match", "")
    written = Dump.open(path).record.written
    edit(path, written={"count": {"tensor": "result"}, "out": written.get("out")})
    status, detail = replayed(path)
    assert (status, detail.partition(" ")[0]) == ("mismatch", "count")


def test_a_call_in_place_is_one_again(dump) -> None:
    x = torch.ones(4)
    assert replayed(dump(x, out=x)) == ("match", "")


def test_a_dump_without_outputs_says_that_there_was_nothing_to_compare(dump) -> None:
    path = dump(torch.ones(3))
    first = (path / METADATA).read_text().splitlines()[0]
    (path / METADATA).write_text(first + "\n")
    (path / "outputs.safetensors").unlink()
    assert replayed(path) == (
        "no reference", "it ran; the recorded process had ended in this call",
    )  # fmt: skip


def test_a_failed_call_that_runs_now_has_no_reference(dump, edit) -> None:
    path = dump(torch.ones(3), 0.0)
    edit(path, arguments={"input": {"tensor": "input"}, "by": 2.0})
    assert replayed(path) == (
        "no reference", "it ran; the recorded call had ended with ZeroDivisionError",
    )  # fmt: skip


def outcome(path: Path, place: Path) -> dict[str, Any]:
    report = place / "outcome.json"
    assert main([str(path), "cpu", str(report)]) == 0
    return dict(json.loads(report.read_text()))


def test_a_call_that_fails_again_says_so(dump, tmp_path: Path) -> None:
    said = outcome(dump(torch.ones(3), 0.0), tmp_path)
    assert said == {
        "status": "error", "detail": "ZeroDivisionError (as recorded): by 0", "hint": "",
    }  # fmt: skip


def test_an_argument_that_the_op_does_not_have_is_an_error(dump, edit, tmp_path: Path) -> None:
    path = dump(torch.ones(3))
    edit(path, arguments={"input": {"tensor": "input"}, "nonsense": 1})
    said = outcome(path, tmp_path)
    assert said["status"] == "error"
    assert "nonsense" in said["detail"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"input": {"opaque": "numpy.random.Generator"}}, "was given numpy.random.Generator"),
        ({"input": {"tensor": "secret"}}, "is in no file"),
        ({"round": {"enum": ["signal", "Signals", "SIGKILL"]}}, "no enum that the op knows"),
        ({"round": {"enum": ["toy.few.halve.op", "os", "DOWN"]}}, "no enum that the op knows"),
    ],
)
def test_arguments_that_cannot_be_had_are_refused(dump, edit, arguments, said: str) -> None:
    path = dump(torch.ones(3))
    edit(path, arguments=arguments)
    with pytest.raises(Refused, match=said):
        replayed(path)
