"""The referee runs in the reference's process: it makes inputs, times turns and checks outputs."""

from __future__ import annotations

import gc
import os
import random
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fictl.case.poison import unwritten
from fictl.errors import SetupError, UsageError
from fictl.judge.config import EvalConfig
from fictl.judge.evaluators.choose import evaluator_for
from fictl.judge.evaluators.verdict import Verdict
from fictl.judge.exchange.wire import Closed, Garbled, Late, Wire
from fictl.judge.fault import FAULT, is_of_machine
from fictl.judge.hardware import hardware_name
from fictl.judge.inputs import make_inputs
from fictl.judge.inputs.kept_files import KeptFiles
from fictl.judge.inside.leftovers import Leftovers
from fictl.judge.inside.reference_call import NoOutputs, ReferenceCall, problem
from fictl.judge.inside.traceback_text import told
from fictl.judge.inside.turn import HACK, WRONG
from fictl.judge.inside.turn_driver import Failed, TurnDriver, TurnRecord
from fictl.judge.inside.warming import warm
from fictl.judge.process.channel import Channel, serve
from fictl.judge.spent import CHECKS, INPUTS, Spent
from fictl.timing.gpu_clocks import gpu_clocks
from fictl.trace import Definition, EvaluationStatus, Workload

if TYPE_CHECKING:
    import torch

    from fictl.judge.evaluators.evaluator import Evaluator

_FIRST_SECONDS, _SLOW_SECONDS = 0.005, 3.0
# Additional checks of a batch are made while they fit into this time, by device. On a CPU the calls
# that are checked have to be many, as its times vary more.
_CHECKING_SECONDS = {"cpu": 1.0}
_CHECKING_ELSEWHERE, _CHEAP_SECONDS = 0.3, 0.05
_OUTCOMES: dict[type[Exception], str] = {
    Late: "hung",
    Closed: "closed",
    Failed: "failed",
    Garbled: "forged",
}


def run(channel: Channel, post: int) -> NoReturn:
    serve(channel, Referee(socket.socket(fileno=post)).answer, os._exit)


class Referee:
    """Serves one definition after another. `open` starts a workload; sockets of solutions arrive by
    `post`.
    """

    def __init__(self, post: socket.socket) -> None:
        self._post = post
        self._call: ReferenceCall
        self._workload: Workload
        self._device = ""  # As a configuration names it: ReferenceCall knows of no emulated one.
        self._root: Path | None = None
        self._kept: KeptFiles
        self._evaluator: Evaluator
        self._verdicts: list[Verdict] = []
        self._drivers: dict[str, TurnDriver] = {}
        self._leftovers: Leftovers | None = None
        self._check_seconds = 0.0

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        steps = {
            "warm": warm,
            "build": self._build,
            "forget": self._forget,
            "open": self._open,
            "meet": self._meet,
            "turns": self._turns,
            "finish": self._finish,
        }
        try:
            return {"ok": True, **steps[request["op"]](request)}
        except UsageError as error:
            return {"ok": False, "kind": "usage", "trace": error.message, "hint": error.hint}
        except SetupError as error:
            return {"ok": False, "kind": "setup", "trace": error.message, "hint": error.hint}
        except BaseException as error:
            is_fault = is_of_machine(error) or isinstance(error, MemoryError)
            kind = FAULT if is_fault else type(error).__name__
            return {"ok": False, "kind": kind, "trace": told(error)}

    def _build(self, request: dict[str, Any]) -> dict[str, Any]:
        from fictl.runnable import BuilderRegistry

        definition = Definition.model_validate(request["definition"])
        place = "cuda" if request["device"] == "cuda" else "cpu"
        self._leftovers = self._leftovers or Leftovers(place)
        runnable = BuilderRegistry.get_instance().build_reference(definition)
        self._call = ReferenceCall(definition, runnable, place)
        for driver in self._drivers.values():
            driver.definition = definition
        self._root = Path(request["root"]) if request["root"] else None
        return {"environment": _environment(request["device"])}

    def _forget(self, _request: dict[str, Any]) -> dict[str, Any]:
        """Drop the definition, and tell what its reference has left here."""
        for name in ("_call", "_kept", "_evaluator"):
            vars(self).pop(name, None)
        self._verdicts = []
        for driver in self._drivers.values():
            driver.release()
        return {"left": self._leftovers.found() if self._leftovers else []}

    def _meet(self, request: dict[str, Any]) -> dict[str, Any]:
        """Receive the sockets of a process for turns; drop closed ones."""
        _, handles, _, _ = socket.recv_fds(self._post, 64, 2)
        wire, watch = (Wire(handle) for handle in handles)
        call = self._call
        for name in [name for name, known in self._drivers.items() if known.is_over]:
            self._drivers.pop(name).close()
        self._drivers[request["who"]] = TurnDriver(wire, watch, call.definition, call.device)
        return {}

    def _open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the reference once: it must work before any solution is compared with it."""
        definition, config = self._call.definition, EvalConfig(**request["config"])
        self._workload = Workload.model_validate(request["workload"])
        self._device, self._kept = config.device, KeptFiles()
        self._evaluator, self._verdicts = evaluator_for(definition, config), []
        inputs = self._inputs(request["seed"])
        try:
            expected = self._call.expected(inputs)
        except NoOutputs as error:
            return {"ok": False, "kind": "reference", "trace": str(error)}
        seconds = expected.seconds
        if _FIRST_SECONDS < seconds < _SLOW_SECONDS:  # The first one may have loaded libraries.
            seconds = min(seconds, self._call.expected(inputs).seconds)
        if wrong := problem(definition, self._workload, expected.outputs):
            return {"ok": False, "kind": "reference", "trace": wrong}
        self._check_seconds = seconds
        size = sum(t.numel() * t.element_size() for t in expected.outputs.values())
        return {
            "bytes": size,
            "seconds": seconds,
            "rounds": self._evaluator.rounds(config),
            "evaluator": self._evaluator.name,
            "fresh": self._is_fresh(),
        }

    def _turns(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run one turn a seed. The turns to check are drawn only after each has ended."""
        taken = Batch(self._drivers[request["who"]], request["seconds"])
        seeds, idle = request["seeds"], request["idle"]
        wanted, checked = request["picks"], 0
        picks = self._picks(wanted) if request["is_judged"] else 0
        gc.collect()
        gc.disable()
        try:
            for left, seed in zip(range(len(seeds), 0, -1), seeds, strict=True):
                with taken.spent.on(INPUTS):
                    inputs = self._inputs(seed)
                seen = taken.turn(inputs, self._workload.axes, idle, request["watched"])
                counts = left <= len(seeds) - request["lead"]
                is_checked = counts and random.SystemRandom().random() * left < picks
                picks, checked = picks - is_checked, checked + is_checked
                taken.add(seen, is_checked)
                with taken.spent.on(CHECKS):
                    if not request["is_judged"]:
                        self._as_if_checked(inputs)
                        continue
                    taken.problem = _problem(seen)
                    if (
                        taken.problem
                        or seen.findings
                        or (is_checked and not self._passes(seen, inputs))
                    ):
                        break
                if taken.spent.of(CHECKS) > self._checking_seconds:  # Slower than was expected.
                    picks = min(picks, max(0, wanted - checked))
            taken.driver.rest()
        except (Late, Closed, Failed, Garbled) as error:
            return {**taken.said(), "outcome": _OUTCOMES[type(error)], "note": str(error)}
        finally:
            gc.enable()
        clocks = _clocks() if request["clocks"] and self._call.device == "cuda" else {}
        passed = all(verdict.passed for verdict in self._verdicts)
        return {**taken.said(), "outcome": "done", "passed": passed, "clocks": clocks}

    @property
    def _checking_seconds(self) -> float:
        return _CHECKING_SECONDS.get(self._device, _CHECKING_ELSEWHERE)

    def _picks(self, wanted: int) -> int:
        return max(wanted, int(self._checking_seconds / max(self._check_seconds, 1e-4)))

    def _passes(self, seen: TurnRecord, inputs: Mapping[str, Any]) -> bool:
        start = time.perf_counter()
        self._verdicts.append(self._verdict(seen.outputs, inputs))
        self._check_seconds = time.perf_counter() - start
        return self._verdicts[-1].passed

    def _as_if_checked(self, inputs: Mapping[str, Any]) -> None:
        """Fill a CPU's caches like a check, so that unchecked turns take the same time. A GPU's are
        emptied before each turn.
        """
        if self._device == "cpu" and self._check_seconds < _CHEAP_SECONDS:
            self._call.expected(inputs)

    def _finish(self, _request: dict[str, Any]) -> dict[str, Any]:
        verdict = self._evaluator.finish(self._verdicts)
        correctness = verdict.correctness
        return {
            "status": verdict.status.value,
            "note": verdict.note,
            "correctness": correctness.model_dump(mode="python") if correctness else None,
        }

    def _verdict(self, outputs: Mapping[str, torch.Tensor], inputs: Mapping[str, Any]) -> Verdict:
        expected: dict[str, torch.Tensor] = {}
        if self._evaluator.needs_expected:
            expected = self._call.expected(inputs).outputs
        try:
            return self._evaluator.check(outputs, expected, inputs)
        except Exception as error:  # Whatever they are: they are none that can be compared.
            note = f"its outputs cannot be compared: {error!r}"
            return Verdict(EvaluationStatus.INCORRECT_NUMERICAL, None, note)

    def _inputs(self, seed: int) -> dict[str, Any]:
        call = self._call
        return make_inputs(
            call.definition, self._workload, self._root, seed, call.device, self._kept
        )

    def _is_fresh(self) -> bool:
        """Tell whether two calls get different inputs."""
        specs = self._workload.inputs.values()
        is_generated = any(spec.type in ("random", "custom") for spec in specs)
        return is_generated or bool(self._call.definition.init)


class Batch:
    """Turns with one process, and its remaining time."""

    def __init__(self, driver: TurnDriver, seconds: float) -> None:
        self.driver = driver
        self.problem: tuple[str, str] | None = None
        self._seconds, self._spent = seconds, 0.0
        self._turns: list[dict[str, Any]] = []
        self.spent = Spent()

    def turn(
        self, inputs: Mapping[str, Any], axes: Mapping[str, int], idle: str, watched: bool
    ) -> TurnRecord:
        start = time.perf_counter()
        deadline = start + self._seconds - self._spent
        try:
            return self.driver.turn(inputs, axes, deadline, self.spent, idle, watched)
        finally:
            self._spent += time.perf_counter() - start

    def add(self, seen: TurnRecord, is_checked: bool) -> None:
        self._turns.append(
            {
                "span": seen.span,
                "waited": seen.waited,
                "claim": seen.claim,
                "checked": is_checked,
            }
        )

    def said(self) -> dict[str, Any]:
        parts = self.spent.seconds()
        return {
            "turns": self._turns,
            "spent": self._spent,
            "parts": parts,
            "problem": self.problem,
        }


def _problem(seen: TurnRecord) -> tuple[str, str] | None:
    """A problem in the way outputs were written or inputs changed; None if there is none."""
    if seen.late:
        note = f"{seen.late} was written after the call had ended: that time is not measured"
        return HACK, note
    if seen.changed:
        return WRONG, f"it changed its input {seen.changed}"
    for name, output in seen.outputs.items():
        if output.numel() and unwritten(output) == output.numel():
            return WRONG, f"it wrote nothing to {name}"
    return None


def _clocks() -> dict[str, Any]:
    clocks = gpu_clocks()
    return asdict(clocks) if clocks else {}


def _environment(device: str) -> dict[str, Any]:
    import torch

    libs = {"torch": str(torch.__version__)}
    gpu = ""
    if device == "cuda":
        version: Any = torch.version
        libs["cuda"] = str(version.cuda)
        gpu = torch.cuda.get_device_name()
    return {"hardware": hardware_name(device, gpu), "libs": libs}
