"""The tuner, called once for each key whose tactic is not known."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from fictl.errors import FictlError
from fictl.log import logger
from fictl.op.declared import Op
from fictl.op.tactics import recorded
from fictl.op.tactics.machine import machine
from fictl.op.tactics.records import Entry, OpRecords
from fictl.op.tactics.spelling import spelled
from fictl.op.tactics.tactics import Untuned
from fictl.timing.measure import measure
from fictl.tune.file import merge
from fictl.tune.ranks import TuningRanks
from fictl.tune.tuning_trial import Measure, TuningTrial

# Two timings at the same time would disturb each other.
_measuring = threading.RLock()


@dataclass(frozen=True)
class TuningOutcome:
    """Result for one key: the measurement, or the problem that prevented it."""

    op: Op
    key: str
    device: int
    entry: Entry | None = None
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        measured = self.entry.model_dump() if self.entry else None
        return {"op": self.op.api, "key": self.key, "measured": measured, "problem": self.problem}


class Tuner:
    """Measures calls and records `outcomes` in order. A tuning error never breaks a call."""

    def __init__(
        self,
        ranks: TuningRanks | None = None,
        again: bool = False,
        timed: Measure = measure,
        done: Callable[[TuningOutcome], object] | None = None,
        skip: Collection[str] = (),
    ) -> None:
        """Tune with `timed`; `again` also measures known keys, `done` is called with each outcome.

        `skip` names ops that are not measured.
        """
        self.outcomes: list[TuningOutcome] = []
        self._ranks = ranks
        self._again = again
        self._measure = timed
        self._done = done or (lambda outcome: None)
        self._skip = frozenset(skip)

    def __call__(self, call: Untuned) -> Any:
        if call.tactics.op.name in self._skip or not _can_be_measured(call):
            known = call.tactics.known(call)
            return call.candidates[0] if known is None else known
        with _measuring:
            # Another thread may have been first.
            tactic = call.tactics.remembered.get(call.key)
            return self._decided(call) if tactic is None else tactic

    def save(self, path: Path | None = None) -> list[Path]:
        """Add the results to this file or the machine's own, on rank 0; return the files."""
        if self._ranks and self._ranks.rank:
            return []
        written = []
        for device in sorted({outcome.device for outcome in self.outcomes if outcome.entry}):
            here = machine(device)
            target = path or recorded.default_path(here)
            merge(target, here, self._records(device))
            written.append(target)
        recorded.forget()
        return written

    def _decided(self, call: Untuned) -> Any:
        known = None if self._again else call.tactics.known(call)
        if known is None:
            entry, winner, refused = self._tried(TuningTrial(call, self._measure))
        else:
            entry, winner, refused = None, call.candidates.index(known), ()
        if self._ranks:
            winner = self._ranks.agree(call, winner, refused)
        tactic = call.candidates[winner]
        if entry:
            self._record(call, entry.model_copy(update={"winner": spelled(tactic)}))
        if entry or known is not None:
            call.tactics.keep(call, tactic)
        else:  # Tuning failed; the next session tries again.
            call.tactics.remembered[call.key] = tactic
        return tactic

    def _tried(self, trial: TuningTrial) -> tuple[Entry | None, int, Collection[int]]:
        """Run the trial: return its measurement, the winner and the refused candidates."""
        call = trial.call
        try:
            entry = trial.run()
        except Exception as error:
            why = error.message if isinstance(error, FictlError) else str(error) or repr(error)
            logger().warning("%s is not tuned for %s: %s", call.tactics.op.api, call.text, why)
            self._record(call, None, why)
            return None, 0, range(1, len(call.candidates))
        plain = [spelled(tactic) for tactic in call.candidates]
        return entry, plain.index(entry.winner), trial.problems

    def _record(self, call: Untuned, entry: Entry | None, problem: str = "") -> None:
        device = call.tactics.device_of(call.arguments)
        outcome = TuningOutcome(call.tactics.op, call.text, device, entry, problem)
        self.outcomes.append(outcome)
        self._done(outcome)

    def _records(self, device: int) -> dict[str, OpRecords]:
        own = [(o.op, o.key, o.entry) for o in self.outcomes if o.entry and o.device == device]
        ops = {op.api: op for op, _, _ in own}
        return {
            api: OpRecords(
                kernel=recorded.kernel_digest(op),
                keys={key: entry for owner, key, entry in own if owner.api == api},
            )
            for api, op in ops.items()
        }


def _can_be_measured(call: Untuned) -> bool:
    """True if the call can be timed: not during CUDA graph capture, nor on tensor subclasses."""
    tensors = [value for value in call.arguments.values() if isinstance(value, torch.Tensor)]
    if any(type(tensor) not in (torch.Tensor, torch.nn.Parameter) for tensor in tensors):
        return False
    return not is_captured(tensors)


def is_captured(tensors: Iterable[torch.Tensor]) -> bool:
    """True if a call on these tensors becomes part of a CUDA graph."""
    on_gpu = any(tensor.is_cuda for tensor in tensors)
    return on_gpu and torch.cuda.is_current_stream_capturing()
