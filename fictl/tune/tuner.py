"""The tuner: what a call that is to be tuned asks, once for each key."""

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
from fictl.tune.ranks import Ranks
from fictl.tune.trial import Measure, Trial

# What is timed at the same time disturbs one another.
_measuring = threading.RLock()


@dataclass(frozen=True)
class Outcome:
    """Of one key: what was measured, or why nothing was."""

    op: Op
    key: str
    device: int
    entry: Entry | None = None
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        measured = self.entry.model_dump() if self.entry else None
        return {"op": self.op.api, "key": self.key, "measured": measured, "problem": self.problem}


class Tuner:
    """`outcomes` are in the order of the calls. What goes wrong here never breaks a call."""

    def __init__(
        self,
        ranks: Ranks | None = None,
        again: bool = False,
        timed: Measure = measure,
        done: Callable[[Outcome], object] | None = None,
    ) -> None:
        """`again` measures what is known, too; `done` is told each outcome."""
        self.outcomes: list[Outcome] = []
        self._ranks = ranks
        self._again = again
        self._measure = timed
        self._done = done or (lambda outcome: None)

    def __call__(self, call: Untuned) -> Any:
        if not _can_be_measured(call):
            known = call.tactics.known(call)
            return call.candidates[0] if known is None else known
        with _measuring:
            # Another thread may have been first.
            found = call.tactics.remembered.get(call.key)
            return self._decided(call) if found is None else found

    def save(self, path: Path | None = None) -> list[Path]:
        """Add what was measured to that file, or the machine's own; those written. Rank 0 alone."""
        if self._ranks and self._ranks.rank:
            return []
        written = []
        for device in sorted({each.device for each in self.outcomes if each.entry}):
            here = machine(device)
            target = path or recorded.default_path(here)
            merge(target, here, self._records(device))
            written.append(target)
        recorded.forget()
        return written

    def _decided(self, call: Untuned) -> Any:
        known = None if self._again else call.tactics.known(call)
        if known is None:
            entry, winner, refused = self._tried(Trial(call, self._measure))
        else:
            entry, winner, refused = None, call.candidates.index(known), ()
        if self._ranks:
            winner = self._ranks.agree(call, winner, refused)
        tactic = call.candidates[winner]
        if entry:
            self._record(call, entry.model_copy(update={"winner": spelled(tactic)}))
        if entry or known is not None:
            call.tactics.keep(call, tactic)
        else:  # It could not be tuned; the next session tries again.
            call.tactics.remembered[call.key] = tactic
        return tactic

    def _tried(self, trial: Trial) -> tuple[Entry | None, int, Collection[int]]:
        """What was measured, the candidate that wins, and those that are out."""
        call = trial.call
        try:
            entry = trial.run()
        except Exception as error:
            why = error.message if isinstance(error, FictlError) else str(error) or repr(error)
            logger().warning("%s is not tuned for %s: %s", call.tactics.op.api, call.text, why)
            self._record(call, None, why)
            return None, 0, range(1, len(call.candidates))
        plain = [spelled(each) for each in call.candidates]
        return entry, plain.index(entry.winner), trial.problems

    def _record(self, call: Untuned, entry: Entry | None, problem: str = "") -> None:
        device = call.tactics.device_of(call.arguments)
        outcome = Outcome(call.tactics.op, call.text, device, entry, problem)
        self.outcomes.append(outcome)
        self._done(outcome)

    def _records(self, device: int) -> dict[str, OpRecords]:
        own = [each for each in self.outcomes if each.entry and each.device == device]
        ops = {each.op.api: each.op for each in own}
        return {
            api: OpRecords(
                kernel=recorded.kernel_digest(op),
                keys={each.key: each.entry for each in own if each.entry and each.op.api == api},
            )
            for api, op in ops.items()
        }


def _can_be_measured(call: Untuned) -> bool:
    """Not while a CUDA graph is captured, nor on tensors that stand for others."""
    tensors = [each for each in call.arguments.values() if isinstance(each, torch.Tensor)]
    if any(type(each) not in (torch.Tensor, torch.nn.Parameter) for each in tensors):
        return False
    return not is_captured(tensors)


def is_captured(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether a call on them becomes part of a CUDA graph."""
    on_gpu = any(each.is_cuda for each in tensors)
    return on_gpu and torch.cuda.is_current_stream_capturing()
