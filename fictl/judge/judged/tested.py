"""The solution's process: builds it, runs it on inputs made here, and shows what it left."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from fictl.errors import FictlError
from fictl.judge.fault import FAULT, is_of_machine
from fictl.judge.inputs import random_inputs
from fictl.judge.judged.failure import told
from fictl.judge.judged.integrity import taken
from fictl.judge.judged.runner import Runner
from fictl.judge.judged.turn import Turn, same, tensors_of
from fictl.judge.process import parcel
from fictl.judge.process.channel import Channel, serve
from fictl.timing.timer import LaunchedNothing
from fictl.trace import Definition, Solution, Workload

HACK, WRONG = "REWARD_HACK", "INCORRECT_NUMERICAL"
_MOST = 8
_LEAVE = os._exit


def run(channel: Channel) -> NoReturn:
    """Without what Python does at its end: a solution may have hung code of its own there."""
    tested = Tested()
    serve(channel, tested.answer, _LEAVE)


class Tested:
    """It answers each request with `ok`, or with what went wrong."""

    def __init__(self) -> None:
        self._integrity = taken()
        self._runner: Runner | None = None
        self._workload: Workload | None = None
        self._shipped: dict[str, Any] = {}
        self._said: dict[str, Any] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        steps = {
            "build": self._build, "prepare": self._prepare, "go": self._go,
            "settle": self._settle, "save": self._save, "memory": self._memory,
        }  # fmt: skip
        try:
            return {"ok": True, **steps[request["op"]](request)}
        except LaunchedNothing as error:
            return {"ok": False, "kind": "nothing", "trace": str(error)}
        except BaseException as error:
            if replaced := self._integrity.replaced():  # What failed may well be our own code.
                return {
                    "ok": True,
                    "seconds": 0.0,
                    "findings": [(HACK, f"it replaced {replaced[0]}")],
                }
            kind = FAULT if _is_fault(request["op"], error) else type(error).__name__
            return {"ok": False, "kind": kind, "trace": told(error)}

    def _build(self, request: dict[str, Any]) -> dict[str, Any]:
        from fictl.runnable import BuilderRegistry, BuildError

        definition = Definition.model_validate(request["definition"])
        solution = Solution.model_validate(request["solution"])
        start = time.monotonic()
        try:
            runnable = BuilderRegistry.get_instance().build(definition, solution)
        except FictlError as error:
            log = getattr(error, "log", "") if isinstance(error, BuildError) else ""
            first = getattr(error, "first_error", error.message)
            return {
                "ok": False, "kind": "build", "trace": str(error), "log": log, "first": first,
                "code": error.exit_code,
            }  # fmt: skip
        place = "cuda" if request["device"] == "cuda" else "cpu"
        self._runner = Runner(definition, runnable, place)
        return {"seconds": time.monotonic() - start}

    def _memory(self, _request: dict[str, Any]) -> dict[str, Any]:
        return {"room": _room(self._with_runner().device)}

    def _prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        """`shipped` is a parcel of what no random numbers are, `numbers` such inputs of each turn."""
        runner = self._with_runner()
        if "workload" in request:
            self._workload = Workload.model_validate(request["workload"])
        self._said, runner.turns = request, []
        shipped = request.get("shipped")
        self._shipped = parcel.read(Path(shipped), runner.device) if shipped else {}
        runner.prepare(self._of(), request["seeds"], self._inputs)
        return {}

    def _go(self, request: dict[str, Any]) -> dict[str, Any]:
        import torch

        with torch.no_grad():
            part = tuple(request.get("part", (0, None)))
            done = self._with_runner().go(request["mode"], request.get("lead", 0), part)
        return {"seconds": done.seconds, "timer": done.timer, "why": done.why}

    def _settle(self, _request: dict[str, Any]) -> dict[str, Any]:
        return {"findings": list(islice(self._findings(), _MOST))}

    def _findings(self) -> Iterator[tuple[str, str]]:
        for name in self._integrity.changed()[:8]:
            yield HACK, f"it replaced {name}"
        for name in self._integrity.threads()[:8]:
            yield HACK, f"it left a thread running: {name}"
        turns = self._with_runner().turns
        yield from (found for turn in turns if (found := _misfit(turn)))
        seen: dict[int, int] = {}
        for index, turn in enumerate(turns):
            for name, place in turn.places().items():
                if seen.setdefault(place, index) != index:
                    yield WRONG, f"{name} lies where an output of another call lies"
        yield from (found for turn in turns if (found := _suspicion(turn)))

    def _save(self, request: dict[str, Any]) -> dict[str, Any]:
        """The outputs of some turns; and whether their inputs are still what they were."""
        runner = self._with_runner()
        found: dict[str, Any] = {}
        for index in request["indices"]:
            turn = runner.turns[index]
            found |= {f"{index}/{name}": each for name, each in turn.outputs().items()}
        parcel.write(Path(request["path"]), found)
        mutated = [name for index in request["indices"] for name in self._mutated(index)]
        findings = [(WRONG, f"it changed its input {name}") for name in dict.fromkeys(mutated)]
        return {"findings": findings}

    def _mutated(self, index: int) -> Iterator[str]:
        turn = self._with_runner().turns[index]
        for name, was in self._inputs(index, turn.seed).items():
            now = turn.inputs[name]
            if tensors_of([was]) and name not in turn.definition.outputs and not same(was, now):
                yield name

    def _inputs(self, index: int, seed: int) -> dict[str, Any]:
        """What was shipped, and of the seed the rest."""
        import torch

        runner, workload = self._with_runner(), self._of()
        names, prefix = runner.definition.inputs, f"{index}/" if self._said.get("each") else ""
        made = {**workload.scalars(), **self._said.get("numbers", {})}
        for name in names:
            if f"{prefix}{name}" in self._shipped:
                made[name] = self._shipped[f"{prefix}{name}"].clone()
        was = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
        try:
            left = [name for name in names if name not in made]
            made |= random_inputs(runner.definition, workload, seed, runner.device, left)
        finally:
            torch.set_default_dtype(was)
        return {name: made[name] for name in names}

    def _with_runner(self) -> Runner:
        assert self._runner is not None
        return self._runner

    def _of(self) -> Workload:
        assert self._workload is not None
        return self._workload


def _is_fault(step: str, error: BaseException) -> bool:
    """Whether the judge's own code failed, where the solution's had no part."""
    if step == "prepare":
        return is_of_machine(error) or isinstance(error, parcel.Damaged)
    return step == "save" and is_of_machine(error)


def _misfit(turn: Turn) -> tuple[str, str] | None:
    problem, status = turn.problem()
    return (status, problem) if problem else None


def _suspicion(turn: Turn) -> tuple[str, str] | None:
    """What its outputs show of how they were made."""
    output, given = turn.aliased()
    if output:
        return WRONG, f"the output {output} lies in the memory of the input {given}"
    if name := turn.changed_since():
        return HACK, f"{name} was written after the call had ended: its time leaves that out"
    if name := turn.unwritten():
        return WRONG, f"it wrote nothing to {name}"
    return None


def _room(place: str) -> int:
    """Memory that turns may take, in bytes."""
    if place != "cuda":
        return 1 << 29
    import torch

    free: int = torch.cuda.mem_get_info()[0]
    return free * 3 // 10
