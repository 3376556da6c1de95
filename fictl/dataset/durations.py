"""Durations of earlier evaluations and builds, as results record them: the longest begin first."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.dataset.previous import BUILD_SECONDS, DEVICE, HASH, SECONDS, kind_of
from fictl.errors import FictlError
from fictl.user_file import open_regular

if TYPE_CHECKING:
    from fictl.dataset.run_plan import EvaluationJob
    from fictl.trace import TraceSet

# The end of a file of results tells enough, and a dataset may have gigabytes of them.
_MOST_READ = 1 << 20


@dataclass
class Times:
    """Seconds of evaluations, and of the builds that they needed."""

    seconds: list[float] = field(default_factory=list)
    build: float = 0.0

    @property
    def mean(self) -> float:
        return sum(self.seconds) / len(self.seconds) if self.seconds else 0.0


class Durations:
    """Times on some hardware; of all where none is named."""

    def __init__(self, dataset: TraceSet, device: str, hardware: Collection[str] = ()) -> None:
        self._dataset, self._device, self._hardware = dataset, kind_of(device), hardware
        self._known: dict[str, dict[str, Times]] = {}

    def expected(self, job: EvaluationJob) -> float:
        """Estimate the seconds of a job; 0 if nothing like it has a result."""
        times = self._of(job.definition.name)
        own = times.get(job.solution.hash())
        if own is not None:
            return own.build + own.mean * job.count
        others = [seconds for one in times.values() for seconds in one.seconds]
        return sum(others) / len(others) * job.count if others else 0.0

    def _of(self, definition: str) -> dict[str, Times]:
        if definition not in self._known:
            times: defaultdict[str, Times] = defaultdict(Times)
            for facts in self._facts(definition):
                one = times[str(facts.get(HASH))]
                one.seconds.append(_number(facts, SECONDS))
                one.build = max(one.build, _number(facts, BUILD_SECONDS))
            self._known[definition] = dict(times)
        return self._known[definition]

    def _facts(self, definition: str) -> Iterator[dict[str, Any]]:
        for path in self._dataset.files.traces(definition):
            for line in _last_lines(path):
                try:
                    evaluation = json.loads(line)["evaluation"]
                    facts, hardware = evaluation["fictl"], evaluation["environment"]["hardware"]
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
                is_alike = isinstance(facts, dict) and facts.get(DEVICE) == self._device
                if is_alike and (not self._hardware or hardware in self._hardware):
                    yield facts


def longest_first(
    jobs: Sequence[EvaluationJob], expected: Callable[[EvaluationJob], float]
) -> list[EvaluationJob]:
    """Sort by the seconds expected; those of a definition stay together, to share its reference.

    What is not known keeps its place among its like, after what is.
    """
    groups: dict[tuple[str, str], list[tuple[float, EvaluationJob]]] = {}
    for job in jobs:
        groups.setdefault((job.kind, job.definition.name), []).append((expected(job), job))
    ordered = [sorted(group, key=lambda pair: -pair[0]) for group in groups.values()]
    ordered.sort(key=lambda group: -group[0][0])
    return [job for group in ordered for _, job in group]


def _last_lines(path: Path) -> list[bytes]:
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _MOST_READ))
            lines = file.read(_MOST_READ).splitlines()
    except (OSError, FictlError):
        return []
    return lines[1:] if size > _MOST_READ else lines


def _number(facts: dict[str, Any], name: str) -> float:
    value = facts.get(name)
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e9 else 0.0
