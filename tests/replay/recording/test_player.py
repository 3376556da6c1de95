"""The player: what it calls, what it refuses, and how it tells a wrong result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.replay.recording import player
from fictl.replay.recording.document import Called, GraphEvent, Made, Recording, StorageEntry, View
from fictl.replay.recording.expectation import Families
from fictl.replay.recording.messages import CallOutcome
from fictl.replay.recording.player import Player
from fictl.replay.recording.replaying import counted, summed_up

X = {"tensor": "0"}


class Twice:
    """A wrapper that doubles, by a planned factor."""

    def __init__(self, layout: str = "NHD") -> None: ...

    def plan(self, factor: torch.Tensor) -> None:
        if factor.numel() == 0:
            raise TypeError("no factor")
        self._factor = factor

    def run(self, x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        return torch.mul(x, self._factor, out=out)


def expected(built: Any, planned: Any, given: Any) -> dict[str, Any]:
    return {"returned": (given["x"].double() * planned["factor"],)}


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[CallOutcome]]:
    """Play steps with the class above, and a function that forgets to double."""
    known = Families({"Twice": expected, "idle": expected}, frozenset())
    monkeypatch.setattr(player, "families", lambda: known)
    monkeypatch.setitem(player._NAMES, "toy", __name__)

    def use(*steps: Any) -> list[CallOutcome]:
        recording = Recording(
            program="engine",
            scene="scene",
            api="toy",
            storages=[StorageEntry(bytes=64, place="cuda", fill="float32")] * 2,
            views=[
                View(storage=0, dtype="float32", shape=(2, 3), stride=(8, 1), offset=1),
                View(storage=1, dtype="int32", shape=(1,), stride=(1,), offset=0),
                View(storage=1, dtype="int32", shape=(0,), stride=(1,), offset=0),
            ],
            steps=[*steps],
        )
        return Player(recording, "cpu").play()

    return use


def idle(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


MADE = Made(object="o0", name="toy.Twice")
PLAN = Called(object="o0", name="plan", args=[{"tensor": "1"}])
RUN = Called(object="o0", name="run", args=[X])


def test_calls_are_compared_with_what_they_should_return(play) -> None:
    assert [call.status for call in play(MADE, PLAN, RUN)] == ["ran", "ran", "match"]


def test_a_wrong_result_is_a_mismatch(play, monkeypatch) -> None:
    monkeypatch.setattr(Twice, "run", lambda self, x, out=None: x.clone())
    wrong = play(MADE, PLAN, RUN)[-1]
    assert wrong.status == "mismatch"
    assert "elements differ" in wrong.detail


def test_a_graph_s_calls_are_compared_after_each_replay(play) -> None:
    events = [GraphEvent(graph="g", event=event) for event in ("capture", "end", "replay")]
    outcomes = play(MADE, PLAN, events[0], RUN, *events[1:], PLAN, events[2])
    assert [call.status for call in outcomes] == ["ran", "ran", "match", "ran", "match"]
    assert outcomes[-1].name == "Twice.run in graph g"


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "toy.os.system",
        "toy",
        "toy._private.f",
        "toy.__builtins__.eval",
        "toy..idle",
        "",
    ],
)
def test_other_names_are_never_looked_up_or_called(play, name: str) -> None:
    refused = play(Called(name=name, args=["true"]))[0]
    assert refused.status == "refused"


def test_methods_that_begin_with_an_underscore_are_refused(play) -> None:
    outcomes = play(MADE, Called(object="o0", name="__reduce__"))
    assert [call.status for call in outcomes] == ["ran", "refused"]


def test_what_needs_a_call_that_went_wrong_is_refused(play) -> None:
    bad = Called(object="o0", name="plan", args=[{"tensor": "2"}])
    outcomes = play(MADE, bad, RUN, Called(object="o9", name="run", args=[X]))
    assert [call.status for call in outcomes] == ["ran", "error", "refused", "refused"]
    assert outcomes[2].detail == "Twice.plan went wrong before"
    assert summed_up(outcomes) == "error"
    assert counted(outcomes) == "2 refused, 1 ran, 1 error"


def test_a_result_is_found_again_by_later_calls(play) -> None:
    first = RUN.model_copy(update={"result": X})
    assert play(MADE, PLAN, first, RUN)[-1].status == "match"


def test_a_value_that_was_not_kept_refuses_its_call(play) -> None:
    refused = play(MADE, PLAN, Called(object="o0", name="run", args=[{"opaque": "engine.Thing"}]))
    assert refused[-1].status == "refused"
    assert "engine.Thing" in refused[-1].detail


def test_nothing_compared_is_no_reference(play) -> None:
    assert summed_up(play(MADE)) == "no reference"
