"""Turns made, run and looked at: the same for a solution and for the reference."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fictl.judge.judged import heap
from fictl.judge.judged.clock import Timed, clocked, timed
from fictl.judge.judged.turn import Turn, output_sizes, outputs_to_write
from fictl.trace import Definition, Workload

if TYPE_CHECKING:
    from fictl.runnable import Runnable

WARM, TIMED, CLOCKED = "warm", "timed", "clocked"
_GC_OFF, _GC_ON, _GC_COLLECT = gc.disable, gc.enable, gc.collect

Inputs = Callable[[int, int], dict[str, Any]]


@dataclass
class Runner:
    """`device` is cuda, or cpu for everything else."""

    definition: Definition
    runnable: Runnable
    device: str
    turns: list[Turn] = field(default_factory=list)

    def prepare(self, workload: Workload, seeds: Iterable[int], inputs: Inputs) -> None:
        """`inputs(index, seed)` makes those of one turn."""
        self.turns = []
        for index, seed in enumerate(seeds):
            made = inputs(index, seed)
            given = {}
            if self.runnable.metadata.destination_passing_style:
                given = outputs_to_write(self.definition, workload.axes, made, self.device)
            self.turns.append(Turn(self.definition, seed, made, given))
        self.wait()
        _GC_COLLECT()
        if self.device == "cpu":  # For what they return, and what is kept of that.
            each = sum(output_sizes(self.definition, workload.axes).values())
            heap.touch(2 * each * len(self.turns))

    def go(self, mode: str, lead: int = 0, part: tuple[int, int | None] = (0, None)) -> Timed:
        """Each turn of a part of them once.

        WARM: with what each left kept; CLOCKED: with nothing between them; TIMED: those after `lead`.
        """
        turns = self.turns[part[0] : part[1]]
        _GC_OFF()
        try:
            if mode == TIMED:
                return timed(turns, self._call, self.device, lead)
            if mode == CLOCKED:
                return Timed(clocked(turns, self._call, self.wait), "host")
            return self._warm()
        finally:
            self.wait()
            _GC_ON()

    def wait(self) -> None:
        """Until the GPU has done it all, if there is one: what went wrong there is raised here."""
        if self.device == "cuda":
            import torch

            torch.cuda.synchronize()

    def _warm(self) -> Timed:
        """The seconds of the fastest."""
        fastest = float("inf")
        for turn in self.turns:
            fastest = min(fastest, clocked([turn], self._call, self.wait))
            turn.keep()
        return Timed(fastest, "host")

    def _call(self, turn: Turn) -> None:
        if turn.given:
            self.runnable.call_destination_passing(*turn.inputs.values(), *turn.given.values())
        else:
            turn.result = self.runnable.call_value_returning(*turn.inputs.values())
