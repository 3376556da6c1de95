"""One solution on one workload: batches of turns, looked at afterwards, timed from both sides."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from fictl.judge.config import EvalConfig
from fictl.judge.contact import Contact
from fictl.judge.judged.runner import CLOCKED, TIMED, WARM
from fictl.judge.outcome import Decided, Outcome
from fictl.judge.pace import Pace
from fictl.judge.reference import Opened, Reference
from fictl.judge.seeds import Seeds
from fictl.trace import EvaluationStatus, Workload

_FIRST = 2
# Beyond the rounds that are asked for, as long as the reference takes no time.
_CHECKED, _CHEAP_SECONDS = 3, 0.1
# Outputs of a wrong dtype may be that much larger.
_LARGER, _HEADER = 16, 1 << 20
_SHIPPED_BYTES = 256 << 20
_MORE = 4


@dataclass
class Trial:
    """`evaluate` fills `outcome`; the solution's process learns of a turn's check after it has run."""

    contact: Contact
    reference: Reference
    workload: Workload
    config: EvalConfig
    opened: Opened
    room: int
    outcome: Outcome
    is_first: bool = False
    _checked: int = 0
    _check_seconds: float = 0.0
    _seeds: Seeds = field(init=False)

    def __post_init__(self) -> None:
        self._seeds = Seeds(self.config.seed, self.workload.uuid)

    def evaluate(self) -> None:
        config, contact = self.config, self.contact
        contact.deadline = time.monotonic() + config.timeout_seconds
        if self.is_first:  # The first call may compile.
            contact.deadline += config.compile_timeout_seconds
        each = math.ceil(self.opened.rounds / (config.num_trials + 1))
        seconds = self._warm_up(each)
        contact.deadline = time.monotonic() + config.timeout_seconds
        pace = Pace.of(seconds, self._fitting(config.iterations), config.num_trials)
        self.outcome.facts |= {"iterations": pace.count, "trials": pace.trials}
        times = self._times(pace, each)
        while self._checked < self.opened.rounds:
            self._batch(WARM, self._fitting(self.opened.rounds - self._checked), self.opened.rounds)
        contact.survey()
        self._finish()
        self.outcome.seconds = median(times)
        if config.profile_baseline:
            self.outcome.reference_seconds = self._baseline()
            if self.reference.clocks:
                self.outcome.facts["clocks"] = self.reference.clocks

    def _warm_up(self, picks: int) -> float:
        """Seconds of the fastest call. The first ones tell how many more there is time for."""
        wanted = self._fitting(max(1, self.config.warmup_runs))
        first = min(_FIRST, wanted)
        fastest = self._batch(WARM, first, picks)
        left = Pace.of(fastest, wanted - first, 1).count if wanted > first else 0
        return min(fastest, self._batch(WARM, left, 1)) if left else fastest

    def _baseline(self) -> float:
        config = self.config
        wanted = self._fitting(config.iterations)
        pace = Pace.of(self.opened.seconds, wanted, config.num_trials)
        trials = [self._seeds.take(pace.lead + pace.count) for _ in range(pace.trials)]
        return self.reference.seconds(self.workload, trials, pace.lead)

    def _finish(self) -> None:
        said = self.reference.finish()
        self.outcome.facts |= {"checked": self._checked}
        self.outcome.correctness = said["correctness"]
        if said["status"] != EvaluationStatus.PASSED.value:
            raise Decided(said["status"], said["note"])

    def _batch(self, mode: str, count: int, picks: int, lead: int = 0) -> float:
        """Seconds of one call, as the process says."""
        seeds = self._prepare(lead + count)
        said = self.contact.ask({"op": "go", "mode": mode, "lead": lead})
        claim = self.contact.seconds(said)
        if mode == TIMED:
            self.outcome.facts |= {"timer": str(said.get("timer", ""))[:40]}
        self.contact.ask({"op": "settle"})
        self._check(seeds, picks)
        return claim

    def _prepare(self, count: int) -> list[int]:
        seeds = self._seeds.take(count)
        shipped = self._shipped(seeds)
        self.contact.ask({
            "op": "prepare", "seeds": seeds, "workload": self.workload.model_dump(mode="json"),
            **shipped,
        })  # fmt: skip
        if shipped.get("shipped"):
            Path(shipped["shipped"]).unlink()
        return seeds

    def _shipped(self, seeds: Sequence[int]) -> dict[str, Any]:
        if self.opened.each or not all(
            spec.type in ("random", "scalar") for spec in self.workload.inputs.values()
        ):
            with self._not_counted():
                return self.reference.ship(seeds)
        return {}

    @contextmanager
    def _not_counted(self) -> Iterator[None]:
        """What the reference takes is not the solution's time."""
        start = time.monotonic()
        yield
        self.contact.deadline += time.monotonic() - start

    def _check(self, seeds: list[int], picks: int) -> None:
        """Of turns that nobody knew of before they were over."""
        cheap = self._checked == 0 or self._check_seconds < _CHEAP_SECONDS
        wanted = min(len(seeds), max(picks, _CHECKED if cheap else 1))
        chosen = sorted(secrets.SystemRandom().sample(range(len(seeds)), wanted))
        path = self.contact.folder / f"{secrets.token_hex(8)}.safetensors"
        self.contact.ask({"op": "save", "indices": chosen, "path": str(path)})
        most = _LARGER * self.opened.bytes * wanted + _HEADER
        with self._not_counted():
            passed, self._check_seconds = self.reference.check(
                path, {index: seeds[index] for index in chosen}, most
            )
        path.unlink(missing_ok=True)
        self._checked += wanted
        if not passed:
            self._finish()

    def _times(self, pace: Pace, each: int) -> list[float]:
        """Of one call, in each trial: as its process says, and as our own clock does not deny.

        A machine that is busy disturbs either: what differs is tried again.
        """
        pairs: list[Pair] = []
        most = pace.trials + _MORE
        while len(pairs) < pace.trials or (len(pairs) < most and not self._agree(pairs)):
            claim = self._batch(TIMED, pace.count, each, pace.lead)
            pairs.append(Pair(claim, *self._clocked(pace), pace.count))
        good = [pair for pair in pairs if pair.is_possible(self.config.device)]
        bound = median(pair.bound for pair in good or pairs)
        host = median(pair.host for pair in good or pairs)
        self.outcome.facts |= {"wall_ms": bound * 1e3, "host_ms": host * 1e3}
        if not good:
            claim = median(pair.claim for pair in pairs)
            raise Decided(
                EvaluationStatus.REWARD_HACK,
                f"a call takes {claim * 1e3:.4g} ms by the clock of its process, and "
                f"{bound * 1e3:.4g} ms by the judge's",
            )
        return [pair.claim for pair in good]

    def _agree(self, pairs: Sequence[Pair]) -> bool:
        """Whether half of them are possible."""
        good = sum(pair.is_possible(self.config.device) for pair in pairs)
        return 2 * good >= min(len(pairs), self.config.num_trials)

    def _clocked(self, pace: Pace) -> tuple[float, float]:
        """By our own clock, around turns that nothing is between; and the host's part, as is said."""
        seeds = self._prepare(pace.lead + pace.count)
        if pace.lead:
            self.contact.ask({"op": "go", "mode": CLOCKED, "part": [0, pace.lead]})
        said = self.contact.ask({"op": "go", "mode": CLOCKED, "part": [pace.lead, None]})
        host, elapsed = self.contact.seconds(said), self.contact.elapsed
        self.contact.ask({"op": "settle"})
        self._check(seeds, 1)
        return elapsed / pace.count, host

    def _fitting(self, wanted: int) -> int:
        """As many turns as memory allows, one at least."""
        most = [wanted, self.room // max(1, self.opened.bytes)]
        if self.opened.given:
            most.append(_SHIPPED_BYTES // self.opened.given)
        return max(1, min(most))


@dataclass(frozen=True)
class Pair:
    """Seconds of a call: as its process says, by the judge's clock, and what the host took of them."""

    claim: float
    bound: float
    host: float
    count: int

    def is_possible(self, device: str) -> bool:
        """On a GPU, calls take longer than its work where their launches do."""
        on_host = self.host if device.startswith("cuda") else 0.0
        return is_possible(max(self.claim, on_host), self.bound, self.count)


def is_possible(claim: float, bound: float, count: int) -> bool:
    """Whether a call may take as little as is claimed, where `count` of them took so long each.

    What stands between calls, a scheduler among it, is given half of the time and some more.
    """
    return claim >= bound / 2 - 4e-3 / count - 2e-5
