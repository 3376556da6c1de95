"""Tuning of one call: refuse wrong candidates, time the others, choose the fastest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import torch

from fictl.op.tactics.machine import machine, versions
from fictl.op.tactics.records import Candidate, Entry
from fictl.op.tactics.spelling import spelled
from fictl.op.tactics.tactics import Untuned
from fictl.op.tactics.tuning import paused
from fictl.timing.side import Side
from fictl.timing.verdict import Verdict, compare_rounds
from fictl.tune.tuned_call import TunedCall

if TYPE_CHECKING:
    from fictl.timing.samples import Samples

# Has the signature of fictl.timing.measure.measure.
Measure = Callable[..., "Mapping[str, Samples]"]


@dataclass(frozen=True)
class TuningTrial:
    """A call to tune; `measure` times sides, `problems` holds reasons for refusing candidates."""

    call: Untuned
    measure: Measure
    problems: dict[int, str] = field(default_factory=dict)

    def run(self) -> Entry:
        with torch.no_grad(), paused():
            tuned = TunedCall(self.call)
            for index in range(1, len(self.call.candidates)):
                problem = tuned.problem(index)
                if problem:
                    self.problems[index] = problem
            return self._chosen(tuned)

    def _chosen(self, tuned: TunedCall) -> Entry:
        """Choose the fastest candidate, if it also beats the default in a second timing of the two.

        The fastest of many candidates is partly luck, so the second timing has to confirm it.
        """
        count = len(self.call.candidates)
        samples = self._timed(tuned, [i for i in range(count) if i not in self.problems])
        rows = [self._row(index, samples) for index in range(count)]
        faster = [index for index in range(count) if _is_faster(rows[index])]
        best = min(faster, key=lambda index: rows[index].ratio, default=0)
        if best:
            again = self._timed(tuned, [0, best])
            rows[best] = self._row(best, again)
            best = best if _is_faster(rows[best]) else 0
        return self._entry(rows, best, samples.get(0))

    def _timed(self, tuned: TunedCall, candidates: Collection[int]) -> dict[int, Samples]:
        if len(candidates) < 2:
            return {}
        copies: dict[int, dict[str, Any]] = {}

        def make(copy: int, candidate: int) -> Callable[[], object]:
            # Candidates share copies, so others use a copy between two calls of one candidate.
            if copy not in copies:
                copies[copy] = tuned.copy()
            return lambda: tuned.run(copies[copy], candidate)

        def side(candidate: int) -> Side:
            return Side(lambda copy: make(copy, candidate), tuned.working_set)

        sides = {str(candidate): side(candidate) for candidate in candidates}
        samples = self.measure(sides, device=tuned.device)
        return {int(name): timed for name, timed in samples.items()}

    def _row(self, index: int, samples: Mapping[int, Samples]) -> Candidate:
        tactic = spelled(self.call.candidates[index])
        if index not in samples:
            return Candidate(tactic=tactic, problem=self.problems.get(index, ""))
        own, default = samples[index], samples[0]
        beside = compare_rounds(default.seconds, own.seconds) if index else None
        low, high = own.interval
        return Candidate(
            tactic=tactic,
            median=own.median,
            stdrel=own.stdrel,
            low=low,
            high=high,
            ratio=beside.ratio if beside else 1.0,
            verdict=beside.verdict.value if beside else "",
        )

    def _entry(self, rows: list[Candidate], winner: int, default: Samples | None) -> Entry:
        here = machine(self.call.tactics.device_of(self.call.arguments))
        return Entry(
            winner=rows[winner].tactic,
            candidates=tuple(rows),
            timer=default.timer if default else "",
            cold=bool(default and default.cold),
            rounds=len(default.seconds) if default else 0,
            made_with={"driver": here.driver, **versions()},
            made_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )


def _is_faster(row: Candidate) -> bool:
    return row.verdict == Verdict.FASTER.value
