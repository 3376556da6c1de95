"""One call run again: its arguments come back, and what it gives and writes is compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.child.codec import to_text
from fictl.errors import SetupError
from fictl.op.watch.dump.record import METADATA, Refused
from fictl.profile import Profile
from fictl.replay.dump import Dump
from fictl.replay.messages import ReplayRequest
from fictl.replay.replay_worker import main, replay_one
from fictl.timing.samples import Samples
from fictl.timing.side import Side


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


def test_of_several_right_results_another_one_is_a_match(
    dump, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(inputs: dict[str, Any], results: dict[str, Any]) -> None:
        assert torch.equal(inputs["input"], torch.ones(3))
        if results["out"][0] not in (0.5, 1.5):
            raise AssertionError("out: neither")

    from toy.few.halve import trace  # type: ignore[import-not-found]

    x = torch.ones(3)
    path = dump(x, out=x)
    monkeypatch.setattr(trace, "halve", replace(trace.halve, judge=judge))
    (toy / "wrong").touch()
    assert replayed(path) == ("match", "")
    again = dump(torch.ones(3), 1.0)
    assert replayed(again) == ("mismatch", "out: neither")


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
        "no reference",
        "it ran; the recorded process had ended in this call",
    )


def test_a_failed_call_that_runs_now_has_no_reference(dump, edit) -> None:
    path = dump(torch.ones(3), 0.0)
    edit(path, arguments={"input": {"tensor": "input"}, "by": 2.0})
    assert replayed(path) == (
        "no reference",
        "it ran; the recorded call had ended with ZeroDivisionError",
    )


def outcome(path: Path, place: Path, under: str = "") -> dict[str, Any]:
    file = place / "answer.json"
    assert main([to_text(ReplayRequest(path, "cpu", under)), str(file)]) == 0
    return dict(json.loads(file.read_text()))


def test_a_call_that_fails_again_says_so(dump, tmp_path: Path) -> None:
    said = outcome(dump(torch.ones(3), 0.0), tmp_path)
    assert said == {
        "status": "error",
        "detail": "ZeroDivisionError (as recorded): by 0",
        "hint": "",
        "code": 0,
        "rows": [],
        "profile": {},
        "time": {},
    }


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
        ({"round": {"enum": ["signal", "Signals", "SIGKILL"]}}, "not an enum that the op knows"),
        ({"round": {"enum": ["toy.few.halve.op", "os", "DOWN"]}}, "not an enum that the op knows"),
    ],
)
def test_arguments_that_cannot_be_had_are_refused(dump, edit, arguments, said: str) -> None:
    path = dump(torch.ones(3))
    edit(path, arguments=arguments)
    with pytest.raises(Refused, match=said):
        replayed(path)


def test_a_time_is_of_copies_that_have_what_was_dumped(dump, tmp_path: Path, monkeypatch) -> None:
    x = torch.ones(4)
    path, made = dump(x, out=x), []

    def measure(sides: dict[str, Side], *, device: str) -> dict[str, Samples]:
        ((name, side),) = sides.items()
        made.extend(side.make(index)().clone() for index in range(2))
        assert (name, device, side.working_set) == ("halve", "cpu", 16)
        return {name: Samples((1e-6, 2e-6, 3e-6), "host", False, 1)}

    monkeypatch.setattr("fictl.timing.measure.measure", measure)
    said = outcome(path, tmp_path, "bench")
    assert (said["status"], said["time"]["median"], said["time"]["rounds"]) == ("match", 2e-6, 3)
    assert [tensor.tolist() for tensor in made] == [[0.5] * 4] * 2


def test_a_profile_is_of_one_call_more(dump, tmp_path: Path, monkeypatch) -> None:
    @contextmanager
    def profile_kernel(name: str) -> Iterator[Profile]:
        yield Profile(name)

    monkeypatch.setattr("fictl.profile.profile_kernel", profile_kernel, raising=False)
    said = outcome(dump(torch.ones(3)), tmp_path, "profile")
    assert (said["status"], said["profile"]["total"]) == ("match", 0)
    assert said["profile"]["text"].startswith("halve")


def test_what_cannot_look_here_is_an_error_of_this_machine(dump, tmp_path, monkeypatch) -> None:
    def profile_kernel(name: str) -> None:
        raise SetupError("CUPTI is busy", "end the other profiler")

    monkeypatch.setattr("fictl.profile.profile_kernel", profile_kernel, raising=False)
    said = outcome(dump(torch.ones(3)), tmp_path, "profile")
    assert (said["status"], said["code"], said["hint"]) == ("error", 3, "end the other profiler")
