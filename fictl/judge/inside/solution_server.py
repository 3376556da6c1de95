"""The solution's process: builds it, calls it on what it is lent, and says what that left."""

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
from fictl.judge.exchange.layout import Layout
from fictl.judge.exchange.wire import Closed, Wire
from fictl.judge.fault import FAULT
from fictl.judge.inside import heap, signal_handlers
from fictl.judge.inside.clock import HostClock, WorkedElsewhere, clock, wait
from fictl.judge.inside.integrity import taken
from fictl.judge.inside.traceback_text import told
from fictl.judge.inside.turn import HACK, WRONG, Misfit, Turn
from fictl.judge.modes import WARM
from fictl.judge.process.channel import Channel, serve
from fictl.timing.timer import LaunchedNothing
from fictl.trace import Definition, Solution

if TYPE_CHECKING:
    from fictl.runnable import Runnable

_MOST = 8
# Results of so many calls stay: an allocator gives none of them to the next call.
_KEPT = 3
_LEAVE = os._exit
_GC_OFF, _GC_ON, _GC_COLLECT = gc.disable, gc.enable, gc.collect


def run(channel: Channel, post: int) -> NoReturn:
    """Without what Python does at its end: a solution may have hung code of its own there."""
    tested = SolutionServer(Wire(post))
    serve(channel, tested.answer, _LEAVE)


class _NotMapped(Exception):
    """The memory of a turn could not be mapped."""


class SolutionServer:
    """It answers each request with `ok`, or with what went wrong."""

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

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        steps = {
            "greet": lambda _: {},
            "build": self._build,
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

    def _serve(self, request: dict[str, Any]) -> dict[str, Any]:
        """Turns, one by one, as the referee hands them out, until it says that there are no more."""
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
        """What the referee's clock is around ends with `done`: what comes after is told untimed."""
        timer.begin()
        self._wire.send({"step": "ready", "token": token})
        message, handles = self._wire.receive()
        layout = Layout.from_dict(message["layout"])
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

    def _adopted(self, handle: int, layout: Layout) -> memory.Memory:
        """Map what the referee lends; no code of the solution has part in it."""
        try:
            return memory.adopt(handle, layout.size, self._device)
        except Exception as error:
            raise _NotMapped from error

    def _call(self, turn: Turn, idle: str) -> None:
        """`idle` is the style of a call that does nothing."""
        if not idle:
            turn.call(self._runnable)
            return
        turn.idle(idle, self._blank)
        if self._device == "cuda":  # It changes over to this process, and to memory that is new.
            turn.touch()

    def _tell(self, message: dict[str, Any], turn: Turn, timer: HostClock) -> None:
        said = {"step": "told", "token": message["token"]}
        try:
            said["claim"] = timer.end().to_dict()
        except (LaunchedNothing, WorkedElsewhere) as error:
            if not message["idle"]:
                self._found.append((HACK, str(error)))
        if not message["idle"]:
            self._look(turn)
        self._wire.send({**said, "found": len(self._found)})

    def _look(self, turn: Turn) -> None:
        """Where its outputs lie; those of the calls before it are still there."""
        output, other = turn.aliased()
        if output:
            note = f"the output {output} lies in the memory of the input {other}"
            self._found.append((WRONG, note))
        before = {place for kept in self._turns for place in kept.places().values()}
        again = next((name for name, place in turn.places().items() if place in before), "")
        if again:
            self._found.append((WRONG, f"{again} lies where an output of another call lies"))
        self._turns.append(turn)

    def _settle(self, _request: dict[str, Any]) -> dict[str, Any]:
        found = [*islice(self._findings(), _MOST)]
        self._turns.clear()
        return {"findings": found, "handlers": signal_handlers.of_libraries()}

    def _findings(self) -> Iterator[tuple[str, str]]:
        for name in self._integrity.changed()[:8]:
            yield HACK, f"it replaced {name}"
        for name in self._integrity.threads()[:8]:
            yield HACK, f"it left a thread running: {name}"
        yield from self._found
        for turn in self._turns:
            if name := turn.changed_since():
                yield HACK, f"{name} was written after the call had ended: its time leaves that out"
