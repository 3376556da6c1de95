"""Serves a solution's process: builds the solution, calls it on shared memory, reports findings."""

from __future__ import annotations

import gc
import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from fictl.errors import FictlError, SetupError
from fictl.judge.exchange import memory
from fictl.judge.exchange.layout import ExchangeLayout
from fictl.judge.exchange.wire import Closed, Wire
from fictl.judge.fault import FAULT
from fictl.judge.inside import heap, signal_handlers
from fictl.judge.inside.clock import HostClock, WorkedElsewhere, clock, wait
from fictl.judge.inside.integrity import taken
from fictl.judge.inside.leftovers import Leftovers
from fictl.judge.inside.traceback_text import told
from fictl.judge.inside.turn import HACK, WRONG, Misfit, Turn
from fictl.judge.inside.warming import warm
from fictl.judge.modes import WARM
from fictl.judge.process.channel import Channel, serve
from fictl.timing.timer import LaunchedNothing
from fictl.trace import Definition, Solution

if TYPE_CHECKING:
    from fictl.runnable import Runnable

_MOST = 8
# Results of this many calls are kept, so that an allocator cannot reuse their memory.
_KEPT = 3
_LEAVE = os._exit
_GC_OFF, _GC_ON, _GC_COLLECT = gc.disable, gc.enable, gc.collect


def run(channel: Channel, post: int) -> NoReturn:
    """Serve requests; end without Python's shutdown, in which a solution may have hooked
    its code.
    """
    tested = SolutionServer(Wire(post))
    serve(channel, tested.answer, _LEAVE)


class _NotMapped(Exception):
    """The shared memory of a turn could not be mapped."""


class SolutionServer:
    """Answers each request with `ok`, or with the kind and the text of a failure."""

    def __init__(self, wire: Wire) -> None:
        self._integrity = taken()
        self._wire = wire
        self._runnable: Runnable
        self._definition: Definition
        self._device = "cpu"
        self._turns: deque[Turn] = deque(maxlen=_KEPT)
        self._found: list[tuple[str, str]] = []
        self._blank: dict[str, Any] = {}
        self._mode = WARM
        self._leftovers: Leftovers | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        steps = {
            "greet": lambda _: {},
            "warm": warm,
            "build": self._build,
            "forget": self._forget,
            "turns": self._serve,
            "settle": self._settle,
        }
        try:
            return {"ok": True, **steps[request["op"]](request)}
        except _NotMapped as error:
            return {"ok": False, "kind": FAULT, "trace": told(error)}
        except SetupError as error:
            return {"ok": False, "kind": "setup", "trace": error.message, "hint": error.hint}
        except BaseException as error:
            if replaced := self._integrity.replaced():  # What failed may well be our own code.
                return {"ok": True, "findings": [(HACK, f"it replaced {replaced[0]}")]}
            return {"ok": False, "kind": type(error).__name__, "trace": told(error)}

    def _build(self, request: dict[str, Any]) -> dict[str, Any]:
        from fictl.runnable import BuilderRegistry, BuildError

        definition = Definition.model_validate(request["definition"])
        registry = BuilderRegistry.get_instance()
        start = time.monotonic()
        try:
            if request["solution"] is None:
                self._leftovers = self._leftovers or Leftovers(request["device"])
                runnable = registry.build_reference(definition)
            else:
                solution = Solution.model_validate(request["solution"])
                runnable = registry.build(definition, solution)
        except FictlError as error:
            log = getattr(error, "log", "") if isinstance(error, BuildError) else ""
            first = getattr(error, "first_error", error.message)
            return {
                "ok": False,
                "kind": "build",
                "trace": str(error),
                "log": log,
                "first": first,
                "code": error.exit_code,
            }
        self._device = "cuda" if request["device"] == "cuda" else "cpu"
        self._definition, self._runnable = definition, runnable
        return {"seconds": time.monotonic() - start}

    def _forget(self, _request: dict[str, Any]) -> dict[str, Any]:
        """Drop a reference that was timed here, and tell what it has left."""
        vars(self).pop("_runnable", None)
        self._turns.clear()
        self._blank.clear()
        return {"left": self._leftovers.found() if self._leftovers else []}

    def _serve(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run turns as the referee starts them, until it sends `rest`."""
        import torch

        self._mode = str(request["mode"])
        self._found.clear()
        self._turns.clear()
        self._blank.clear()
        if self._device == "cpu":
            heap.touch((_KEPT + 2) * int(request["bytes"]))
        else:
            wait()  # From here on this process has the GPU's context.
        _GC_COLLECT()
        _GC_OFF()
        try:
            with torch.no_grad(), clock(self._device, self._mode) as timer:
                while (message := self._wire.receive()[0])["step"] == "ready":
                    self._turn(message["token"], timer)
        except BaseException:
            with suppress(Closed):
                self._wire.send({"step": "failed"})
            raise
        finally:
            _GC_ON()
        return {}

    def _turn(self, token: str, timer: HostClock) -> None:
        """Run one turn. The referee stops its clock at `done`; the claim is sent after it."""
        timer.begin()
        self._wire.send({"step": "ready", "token": token})
        message, handles = self._wire.receive()
        layout = ExchangeLayout.from_dict(message["layout"])
        lent = self._adopted(handles[0], layout)
        turn = Turn(self._definition, layout, message["numbers"], lent)
        try:
            timer.time(lambda: self._call(turn, message["idle"]))
            turn.deliver()
            if self._device == "cuda" and self._mode == WARM:
                turn.keep()
        except Misfit as misfit:
            self._found.append((misfit.status, misfit.note))
        if self._device == "cuda":
            wait()
        self._wire.send({"step": "done", "token": message["token"]})
        self._tell(message, turn, timer)

    def _adopted(self, handle: int, layout: ExchangeLayout) -> memory.SharedMemory:
        """Map the referee's memory; no code of the solution takes part."""
        try:
            return memory.adopt(handle, layout.size, self._device)
        except Exception as error:
            raise _NotMapped from error

    def _call(self, turn: Turn, idle: str) -> None:
        """Call the solution; `idle` names the style of an empty call instead."""
        if not idle:
            turn.call(self._runnable)
            return
        turn.idle(idle, self._blank)
        if self._device == "cuda":  # It changes over to this process, and to memory that is new.
            turn.touch()

    def _tell(self, message: dict[str, Any], turn: Turn, timer: HostClock) -> None:
        reply = {"step": "told", "token": message["token"]}
        try:
            reply["claim"] = timer.end().to_dict()
        except (LaunchedNothing, WorkedElsewhere) as error:
            if not message["idle"]:
                self._found.append((HACK, str(error)))
        if not message["idle"]:
            self._look(turn)
        self._wire.send({**reply, "found": len(self._found)})

    def _look(self, turn: Turn) -> None:
        """Check that outputs are in new memory; for this, recent results are kept alive."""
        output, other = turn.aliased()
        if output:
            note = f"the output {output} shares memory with the input {other}"
            self._found.append((WRONG, note))
        before = {place for kept in self._turns for place in kept.places().values()}
        again = next((name for name, place in turn.places().items() if place in before), "")
        if again:
            self._found.append((WRONG, f"{again} shares memory with an output of another call"))
        self._turns.append(turn)

    def _settle(self, _request: dict[str, Any]) -> dict[str, Any]:
        findings = [*islice(self._findings(), _MOST)]
        self._turns.clear()
        return {"findings": findings, "handlers": signal_handlers.of_libraries()}

    def _findings(self) -> Iterator[tuple[str, str]]:
        for name in self._integrity.changed()[:8]:
            yield HACK, f"it replaced {name}"
        for name in self._integrity.threads()[:8]:
            yield HACK, f"it left a thread running: {name}"
        yield from self._found
        for turn in self._turns:
            if name := turn.changed_since():
                yield (
                    HACK,
                    f"{name} was written after the call had ended: that time is not measured",
                )
