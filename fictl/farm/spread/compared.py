"""Comparisons from several places: each was made at one, and none crosses places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.bench.compare.outcome import CompareOutcome
from fictl.farm.spread.command_job import CommandResult
from fictl.farm.spread.readable import readable


@dataclass(frozen=True)
class PlacedComparison:
    """The cases that one place has compared."""

    place: str
    outcome: CompareOutcome

    def to_dict(self) -> dict[str, Any]:
        document = self.outcome.to_dict()
        cases = [{**case, "place": self.place} for case in document["cases"]]
        return {**document, "cases": cases, "place": self.place}


def comparisons(
    results: Sequence[CommandResult], labels: Mapping[str, str]
) -> list[PlacedComparison]:
    """Join the outcomes of each place and its clocks. labels: here, by those of the places."""
    joined: dict[tuple[str, ...], CompareOutcome] = {}
    for result in results:
        if not isinstance(result.data, dict):
            continue
        outcome = _outcome(result, labels)
        key = (result.place, outcome.a, outcome.b, outcome.how, outcome.where)
        before = joined.get(key)
        joined[key] = outcome if before is None else before.with_more(outcome)
    return [PlacedComparison(key[0], outcome) for key, outcome in joined.items()]


def exit_code(compared: Sequence[PlacedComparison]) -> int:
    """Return 1 if something is slower, 3 if nothing was compared, as one comparison would."""
    codes = {one.outcome.exit_code for one in compared}
    return 1 if 1 in codes else 0 if not codes or 0 in codes else 3


def _outcome(result: CommandResult, labels: Mapping[str, str]) -> CompareOutcome:
    with readable(result):
        return CompareOutcome.from_dict(_relabelled(result.data, labels))


def _relabelled(data: Any, labels: Mapping[str, str]) -> Any:
    if isinstance(data, str):
        for theirs, ours in labels.items():
            data = data.replace(theirs, ours)
        return data
    if isinstance(data, list):
        return [_relabelled(value, labels) for value in data]
    if isinstance(data, dict):
        return {name: _relabelled(value, labels) for name, value in data.items()}
    return data
