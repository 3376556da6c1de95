"""The reference's process: says what is right, of outputs that it reads as bytes from a file."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fictl.errors import UsageError
from fictl.judge.config import EvalConfig
from fictl.judge.evaluators.choose import evaluator_for
from fictl.judge.evaluators.verdict import Verdict
from fictl.judge.fault import FAULT, is_of_machine
from fictl.judge.inputs import given_inputs, make_inputs
from fictl.judge.judged.failure import told
from fictl.judge.judged.runner import TIMED, WARM, Runner
from fictl.judge.judged.turn import Turn, size_of, tensors_of
from fictl.judge.process import parcel
from fictl.judge.process.channel import Channel, serve
from fictl.timing.gpu_state import gpu_state
from fictl.trace import Definition, EvaluationStatus, Workload

if TYPE_CHECKING:
    import torch

    from fictl.judge.evaluators.evaluator import Evaluator

_FIRST_SECONDS, _SLOW_SECONDS = 0.1, 10.0


def run(channel: Channel) -> NoReturn:
    serve(channel, Referee().answer, os._exit)


class Referee:
    """Of one definition; `open` begins with one of its workloads."""

    def __init__(self) -> None:
        self._runner: Runner
        self._workload: Workload
        self._root: Path | None = None
        self._evaluator: Evaluator
        self._verdicts: list[Verdict] = []

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        steps = {
            "build": self._build, "open": self._open, "ship": self._ship, "check": self._check,
            "finish": self._finish, "time": self._time,
        }  # fmt: skip
        try:
            return {"ok": True, **steps[request["op"]](request)}
        except UsageError as error:
            return {"ok": False, "kind": "usage", "trace": error.message, "hint": error.hint}
        except BaseException as error:
            is_fault = is_of_machine(error) or isinstance(error, MemoryError)
            kind = FAULT if is_fault else type(error).__name__
            return {"ok": False, "kind": kind, "trace": told(error)}

    def _build(self, request: dict[str, Any]) -> dict[str, Any]:
        from fictl.runnable import BuilderRegistry

        definition = Definition.model_validate(request["definition"])
        runnable = BuilderRegistry.get_instance().build_reference(definition)
        place = "cuda" if request["device"] == "cuda" else "cpu"
        self._runner = Runner(definition, runnable, place)
        self._root = Path(request["root"]) if request["root"] else None
        return {"environment": _environment(request["device"])}

    def _open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run the reference once: it has to work before anything is held against it."""
        definition = self._runner.definition
        self._workload = Workload.model_validate(request["workload"])
        config = EvalConfig(**request["config"])
        self._evaluator, self._verdicts = evaluator_for(definition, config), []
        turn, seconds = self._expected(request["seed"])
        if _FIRST_SECONDS < seconds < _SLOW_SECONDS:  # The first one may have loaded libraries.
            seconds = min(seconds, self._expected(request["seed"])[1])
        outputs = turn.outputs()
        problem = turn.problem()[0] or _problem(definition, self._workload, outputs)
        if problem:
            return {"ok": False, "kind": "reference", "trace": problem}
        return {
            "bytes": size_of(turn.inputs.values()) + 2 * size_of(outputs.values()),
            "seconds": seconds, "rounds": self._evaluator.rounds(config),
            "evaluator": self._evaluator.name, "each": self._is_seeded(),
            "given": self._given_size(), "fresh": self._is_fresh(),
        }  # fmt: skip

    def _ship(self, request: dict[str, Any]) -> dict[str, Any]:
        """Inputs that random numbers cannot be, in a file that the solution's process may read."""
        each = self._is_seeded()
        found: dict[str, Any] = {}
        numbers: dict[str, Any] = {}
        for index, seed in enumerate(request["seeds"] if each else request["seeds"][:1]):
            given = self._given(seed)
            tensors = {name: value for name, value in given.items() if tensors_of([value])}
            prefix = f"{index}/" if each else ""
            found |= {f"{prefix}{name}": tensor for name, tensor in tensors.items()}
            numbers |= {name: value for name, value in given.items() if name not in tensors}
        if found:
            parcel.write(Path(request["path"]), found)
        return {"shipped": request["path"] if found else "", "numbers": numbers, "each": each}

    def _check(self, request: dict[str, Any]) -> dict[str, Any]:
        """Outputs of some turns, by index, whose seeds are said."""
        try:
            found = parcel.read(Path(request["path"]), self._runner.device, request["most"])
        except parcel.Damaged as error:
            return {"passed": False, "damaged": error.message, "seconds": 0.0}
        start = time.monotonic()
        for index, seed in request["seeds"].items():
            prefix = f"{index}/"
            outputs = {
                name.removeprefix(prefix): tensor
                for name, tensor in found.items()
                if name.startswith(prefix)
            }
            self._verdicts.append(self._verdict(outputs, seed))
        seconds = (time.monotonic() - start) / max(1, len(request["seeds"]))
        return {"passed": all(verdict.passed for verdict in self._verdicts), "seconds": seconds}

    def _finish(self, _request: dict[str, Any]) -> dict[str, Any]:
        verdict = self._evaluator.finish(self._verdicts)
        said = verdict.correctness
        return {
            "status": verdict.status.value, "note": verdict.note,
            "correctness": said.model_dump(mode="python") if said else None,
        }  # fmt: skip

    def _time(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reference, as solutions are timed: the seconds of one call in each trial."""
        import torch

        found = []
        for seeds in request["seeds"]:
            self._runner.prepare(self._workload, seeds, lambda _, seed: self._inputs(seed))
            with torch.no_grad():
                done = self._runner.go(TIMED, request["lead"])
            found.append(done.seconds)
        self._runner.turns = []
        clocks = _clocks() if self._runner.device == "cuda" else {}
        return {"trials": found, "timer": done.timer, "clocks": clocks}

    def _verdict(self, outputs: Mapping[str, torch.Tensor], seed: int) -> Verdict:
        expected: dict[str, torch.Tensor] = {}
        if self._evaluator.needs_expected:
            expected = self._expected(seed)[0].outputs()
        inputs = self._inputs(seed)
        try:
            return self._evaluator.check(outputs, expected, inputs)
        except Exception as error:  # Whatever they are: they are none that can be compared.
            note = f"its outputs cannot be compared: {error!r}"
            return Verdict(EvaluationStatus.INCORRECT_NUMERICAL, None, note)

    def _expected(self, seed: int) -> tuple[Turn, float]:
        """Of inputs of its own, which it may change; and how long it took."""
        import torch

        runner = self._runner
        runner.prepare(self._workload, [seed], lambda _, each: self._inputs(each))
        with torch.no_grad():
            done = runner.go(WARM)
        turn, runner.turns = runner.turns[0], []
        return turn, done.seconds

    def _inputs(self, seed: int) -> dict[str, Any]:
        runner = self._runner
        return make_inputs(runner.definition, self._workload, self._root, seed, runner.device)

    def _given(self, seed: int) -> dict[str, Any]:
        runner = self._runner
        return given_inputs(runner.definition, self._workload, self._root, seed, runner.device)

    def _given_size(self) -> int:
        return size_of(self._given(0).values()) if self._is_seeded() else 0

    def _is_seeded(self) -> bool:
        """Whether what is not random differs from seed to seed."""
        custom = any(spec.type == "custom" for spec in self._workload.inputs.values())
        return bool(custom or self._runner.definition.init)

    def _is_fresh(self) -> bool:
        """Whether the inputs of two calls differ at all."""
        specs = self._workload.inputs.values()
        return self._is_seeded() or any(spec.type == "random" for spec in specs)


def _problem(
    definition: Definition, workload: Workload, outputs: Mapping[str, torch.Tensor]
) -> str:
    """Why these cannot be a reference's outputs, or ''."""
    import torch

    shapes = definition.get_output_shapes(workload.axes)
    for name, shape in zip(definition.outputs, shapes, strict=True):
        got = outputs[name]
        if shape is not None and [*got.shape] != [*shape]:
            return f"{name} of the reference has shape {[*got.shape]}, not {[*shape]}"
        if got.numel() and got.is_floating_point() and bool(torch.isnan(got.float()).all()):
            return f"{name} of the reference is NaN throughout"
    return ""


def _clocks() -> dict[str, Any]:
    state = gpu_state()
    if state is None:
        return {}
    return {
        "sm_mhz": state.sm_mhz, "max_sm_mhz": state.max_sm_mhz, "throttled": [*state.throttled],
    }  # fmt: skip


def _environment(device: str) -> dict[str, Any]:
    import torch

    libs = {"torch": str(torch.__version__)}
    if device == "cuda":
        version: Any = torch.version
        libs["cuda"] = str(version.cuda)
        return {"hardware": torch.cuda.get_device_name().replace(" ", "_"), "libs": libs}
    machine = platform.machine() or "unknown"
    return {
        "hardware": f"emulated_on_{machine}" if device == "emu" else f"CPU_{machine}",
        "libs": libs,
    }
