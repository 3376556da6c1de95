"""Solutions that wait for a build are put off without a start."""

from __future__ import annotations

import json

import pytest

from fictl.farm.line import Deferred, Greeting
from fictl.farm.serve import building
from fictl.farm.serve.building import PlaceBuilds, kind_of

RUN = "fedcba9876543210"


def solution(name: str, kernel: str = "k", main: str = "") -> str:
    sources = [
        {"path": "main.py", "content": main or f"# {name}"},
        {"path": "kernels/k.cu", "content": kernel},
    ]
    return json.dumps({"name": name, "spec": {"entry_point": "main.py::run"}, "sources": sources})


class Pending:
    """A builder that builds what it is told, when it is told."""

    def __init__(self, *pending: str, has_room: bool = False) -> None:
        self.pending, self.has_room = {*pending}, has_room

    def is_pending(self, key: str) -> bool:
        return key in self.pending

    def news(self) -> tuple[str, ...]:
        return ("done",)

    def close(self) -> None:
        pass


def builds(builder: Pending) -> PlaceBuilds:
    made = PlaceBuilds(Greeting("cpu", run=RUN))
    made._builder = builder  # type: ignore[assignment]
    return made


def test_solutions_are_alike_that_differ_in_name_and_entry_only() -> None:
    assert kind_of(solution("a")) == kind_of(solution("b"))
    assert kind_of(solution("a")) != kind_of(solution("a", "other"))
    alone = json.loads(solution("a"))
    alone["sources"] = alone["sources"][:1]
    other = json.loads(json.dumps(alone).replace("# a", "# b"))
    assert kind_of(json.dumps(alone)) != kind_of(json.dumps(other))


def test_those_alike_wait_without_a_try_until_it_is_built() -> None:
    builder = Pending("k")
    known = builds(builder)
    assert known.known_to_wait(solution("a")) == ""
    known.waits(solution("a"), "k")
    assert known.known_to_wait(solution("b")) == "k"
    assert known.known_to_wait(solution("c", "other")) == ""
    assert known.deferred("k") == Deferred("k", ("done",))
    builder.pending.clear()
    assert known.known_to_wait(solution("b")) == ""


def test_while_compilers_are_idle_some_are_tried_for_what_else_they_need() -> None:
    known = builds(Pending("k", has_room=True))
    for name in ("a", "b"):
        assert known.known_to_wait(solution(name)) == ""
        known.waits(solution(name), "k")
    assert known.known_to_wait(solution("c")) == "k"


def test_a_solution_that_orders_without_end_builds_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(building, "_MOST_WAITS", 2)
    known = builds(Pending())
    for _ in range(2):
        assert known.builder_for(solution("a")) is not None
        known.waits(solution("a"), "k")
    assert known.builder_for(solution("a")) is None
    assert known.builder_for(solution("b")) is not None


def test_outside_of_a_run_every_solution_builds_itself() -> None:
    known = PlaceBuilds(Greeting("cpu"))
    assert known.builder_for(solution("a")) is None
    assert known.wait("k", 1.0)
    known.close()
