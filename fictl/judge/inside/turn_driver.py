"""The referee's side of a turn: lends inputs, starts a clock, stops it after reading the outputs.

No code in the solution's process can stop this clock. Outputs that are not in the shared memory
when it is read are wrong, and inputs reach the process only after the clock has started.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fictl.case.poison import poison
from fictl.judge.exchange import memory
from fictl.judge.exchange.layout import ExchangeLayout
from fictl.judge.exchange.wire import Garbled, Wire
from fictl.judge.inside.output_reader import OutputReader
from fictl.judge.inside.turn import same
from fictl.judge.process.scheduled import waited_here
from fictl.judge.spent import CALLS, LENDING, LOOKING, Spent
from fictl.timing.rotation import COLD
from fictl.trace import Definition

if TYPE_CHECKING:
    import torch


class Failed(Exception):
    """The call raised; its process reports the error."""


@dataclass
class TurnRecord:
    """Record of one turn. `span` is in seconds, from lending the inputs to having read the outputs.

    `waited` are seconds in which either side waited for a CPU; `claim` is what the process reports.
    `changed` names an input that was modified, `late` an output that was written afterwards.
    """

    span: float
    waited: float
    claim: Any
    findings: int
    outputs: dict[str, torch.Tensor]
    changed: str
    late: str


class TurnDriver:
    """Runs turns with one process; queries the process's supervisor by `watch`."""

    def __init__(self, wire: Wire, watch: Wire, definition: Definition, device: str) -> None:
        self.definition = definition
        self._wire, self._watch, self._device = wire, watch, device
        self._cold: Any = None

    def turn(
        self,
        inputs: Mapping[str, Any],
        axes: Mapping[str, int],
        deadline: float,
        spent: Spent,
        idle: str = "",
        watched: bool = True,
    ) -> TurnRecord:
        """Run one turn; `idle` names the style of an empty call. If not `watched`, waits for a CPU
        are not asked for.
        """
        with spent.on(LENDING):
            layout = ExchangeLayout.of(inputs, self.definition, axes)
            lent, handle = memory.create(layout.size, self._device)
        try:
            with spent.on(LENDING):
                places = self._filled(layout, lent, inputs)
                outputs = {name: places[name] for name in self.definition.outputs}
                reading = OutputReader(outputs, self._device)
            token = secrets.token_hex(8)
            numbers = {name: value for name, value in inputs.items() if name not in places}
            message = {
                "step": "go",
                "token": token,
                "layout": layout.to_dict(),
                "numbers": numbers,
                "idle": idle,
            }
            with spent.on(CALLS):
                span, waited = self._timed(message, handle, reading, deadline, watched)
        finally:
            os.close(handle)
        with spent.on(LOOKING):
            told = self._hear("told", token, deadline)
            taken, late = reading.taken()
            changed = (
                part.name
                for part in layout.inputs
                if part.name not in outputs and not same(places[part.name], inputs[part.name])
            )
            return TurnRecord(
                span, waited, told.get("claim"), _found(told), taken, next(changed, ""), late
            )

    def release(self) -> None:
        """Free the memory that is kept between turns."""
        self._cold = None

    def rest(self) -> None:
        """End the sequence of turns."""
        self._wire.send({"step": "rest"})

    @property
    def is_over(self) -> bool:
        """Tell whether the process has gone."""
        return self._watch.is_closed()

    def close(self) -> None:
        self._wire.close()
        self._watch.close()

    def _timed(
        self,
        message: dict[str, Any],
        handle: int,
        reading: OutputReader,
        deadline: float,
        watched: bool,
    ) -> tuple[float, float]:
        if not self._wire.is_quiet():
            raise Garbled("a message before any request")
        # Read it while that process sleeps: on two CPUs, the supervisor's answer would displace a
        # waiting process.
        before = self._waits() if watched else 0.0
        self._wire.send({"step": "ready", "token": message["token"]})
        self._hear("ready", message["token"], deadline)
        before += waited_here()
        start = time.perf_counter()
        self._wire.send(message, (handle,))
        self._hear("done", message["token"], deadline)
        reading.read()
        span = time.perf_counter() - start
        return span, max(0.0, waited_here() + self._waits() - before) if watched else 0.0

    def _hear(self, step: str, token: str, deadline: float) -> dict[str, Any]:
        message, handles = self._wire.receive(deadline)
        for handle in handles:
            os.close(handle)
        if message.get("step") == "failed":
            raise Failed
        if message.get("step") != step or message.get("token") != token:
            raise Garbled(f"an answer to no request: {str(message)[:80]}")
        return message

    def _waits(self) -> float:
        """Seconds that the process has waited for a CPU so far."""
        self._watch.send({"what": "waits"})
        return float(self._watch.receive()[0]["waited"])

    def _filled(
        self, layout: ExchangeLayout, lent: memory.SharedMemory, inputs: Mapping[str, Any]
    ) -> dict[str, torch.Tensor]:
        places = {part.name: part.view(lent) for part in (*layout.inputs, *layout.outputs)}
        for part in layout.inputs:
            places[part.name].copy_(inputs[part.name])
        poison(places[part.name] for part in layout.outputs)
        if self._device == "cuda":
            self._cool()
        return places

    def _cool(self) -> None:
        """Evict inputs from the GPU's cache by writing other memory."""
        import torch

        cuda: Any = torch.cuda
        if self._cold is None:
            l2 = cuda.get_device_properties(cuda.current_device()).L2_cache_size
            self._cold = torch.empty(int(COLD * l2), dtype=torch.uint8, device="cuda")
        self._cold.zero_()
        cuda.synchronize()


def _found(told: dict[str, Any]) -> int:
    count = told.get("found")
    if not isinstance(count, int):
        raise Garbled(f"an answer to no request: {str(told)[:80]}")
    return count
