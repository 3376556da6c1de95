"""ApplyRuntime: runs the chosen solution of a dataset in place of a call, or the call's fallback."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, ClassVar

import torch

from fictl.apply.call_facts import hardware_of
from fictl.apply.choice import Choice, Chooser, Subject
from fictl.apply.config import ApplyConfig, ApplyConfigRegistry
from fictl.apply.explanation import ApplyExplanation
from fictl.apply.solutions import AppliedSolutions
from fictl.apply.table import ApplyTable, Best
from fictl.errors import FictlError, InvalidValue, UsageError
from fictl.runnable.results import copy_results
from fictl.trace import TraceSet
from fictl.trace.dataset.trusted import require_trusted

Fallback = Callable[..., Any]


class ApplyRuntime:
    """Solutions of one dataset. Runtimes are nested: the one that was started last decides.

    While a solution runs, its own calls get their fallbacks: a solution may call what it replaces.
    """

    _stack: ClassVar[list[ApplyRuntime]] = []
    _inside: ClassVar[threading.local] = threading.local()

    def __init__(
        self,
        dataset: TraceSet,
        config: ApplyConfig | ApplyConfigRegistry | None = None,
    ) -> None:
        """Open a dataset that is trusted; its files are read, and its solutions are built."""
        require_trusted(dataset.root)
        if not isinstance(config, ApplyConfigRegistry):
            config = ApplyConfigRegistry(config)
        self.configs: ApplyConfigRegistry = config
        self.dataset = dataset
        self.table = ApplyTable.load_or_build(dataset, self.configs)
        self.solutions = AppliedSolutions(dataset)
        self._chooser = Chooser(self.table, self.configs)
        self._is_pending = False
        self._subjects = {name: Subject(one) for name, one in dataset.definitions.items()}

    @classmethod
    def current(cls) -> ApplyRuntime | None:
        return cls._stack[-1] if cls._stack else None

    @classmethod
    def is_inside(cls) -> bool:
        """Tell whether this thread runs a solution."""
        return getattr(cls._inside, "busy", False)

    def start(self, is_import: bool = False) -> ApplyRuntime:
        """Make it the current one; build what `aot_ratio` asks for.

        While a program imports its ops that is left to the first call: to ask for GPUs would
        initialise CUDA, and the program may fork.
        """
        if ApplyRuntime.current() is not self:
            self._is_pending = True
            if not is_import:
                self.build_ahead()
            ApplyRuntime._stack.append(self)
        return self

    def stop(self) -> None:
        """Restore the runtime before; only the current one can be stopped."""
        if ApplyRuntime.current() is not self:
            raise UsageError("apply: another runtime is the current one", "stop that one first")
        ApplyRuntime._stack.pop()

    def __enter__(self) -> ApplyRuntime:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def build_ahead(self) -> None:
        """Build a share of the solutions for the devices here."""
        self._is_pending = False
        devices = [torch.device("cpu")]
        if torch.cuda.is_available():
            devices += [torch.device("cuda", index) for index in range(torch.cuda.device_count())]
        here = {name for device in devices for name in hardware_of(device)}
        by_ratio: dict[float, list[tuple[str, Best]]] = {}
        for definition, best in self.table.winners():
            config = self.configs.get(definition)
            if config.hardware or any(self.table.known_sizes(definition, (name,)) for name in here):
                by_ratio.setdefault(config.aot_ratio, []).append((definition, best))
        for ratio, winners in by_ratio.items():
            self.solutions.build_ahead(winners, ratio)

    def dispatch(
        self,
        definition: str,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        fallback: Fallback | None,
    ) -> Any:
        """Run the chosen solution; without one, the fallback, or raise.

        Inputs alone return the outputs; with outputs, these are written and None is returned.
        """
        subject = self._subjects.get(definition)
        if subject is None:
            return _missed(f"the dataset has no definition {definition!r}", args, kwargs, fallback)
        values = args
        if kwargs or len(args) not in (subject.inputs, subject.inputs + subject.outputs):
            try:
                values = subject.definition.merge_kwargs_to_args(args, kwargs)
                subject.require_count(values)
            except (TypeError, InvalidValue) as error:
                if fallback is None:
                    raise InvalidValue(str(error)) from None
                return fallback(*args, **kwargs)
        choice = self._chooser.choice(subject, values)
        runnable = self._ready(subject, choice)
        if runnable is None or choice.best is None:
            return _missed(choice.why, args, kwargs, fallback)
        try:
            return self._run(subject, choice, runnable, values)
        except Exception as error:
            self._failed(subject, choice.best, error, fallback)
        assert fallback is not None
        return fallback(*args, **kwargs)

    def explain(
        self, definition: str, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> ApplyExplanation:
        """Explain which solution this call would get, and why not the others; nothing runs."""
        subject = self._subjects.get(definition)
        if subject is None:
            why = f"the dataset has no definition {definition!r}"
            return ApplyExplanation(definition, applies=False, why=why)
        values = subject.definition.merge_kwargs_to_args(args, kwargs or {})
        subject.require_count(values)
        choice = self._chooser.chosen(subject, values)
        refused = dict(self.table.refused.get(definition, {}))
        best, sizes = choice.best, dict(choice.sizes)
        why = self.solutions.struck(definition, best) if best else ""
        if best is None or why:
            return ApplyExplanation(
                definition, False, why or choice.why, "", "", 0.0, choice.hardware, sizes, refused
            )
        solution = self.dataset.get_solution(best.solution)
        author = solution.author if solution else ""
        refused.pop(best.solution, None)
        return ApplyExplanation(
            definition,
            True,
            choice.why,
            best.solution,
            author,
            best.speedup,
            choice.hardware,
            sizes,
            refused,
        )

    def _ready(self, subject: Subject, choice: Choice) -> Any:
        """Return the runnable; None inside of a solution, and where it cannot be built now."""
        best, name = choice.best, subject.definition.name
        if best is None or self.is_inside():
            return None
        if (self._is_pending or not self.solutions.is_built(name, best)) and _captures():
            return None  # A graph is captured: a build there would wait for compilers.
        if self._is_pending:
            self.build_ahead()
        return self.solutions.get(name, best)

    def _run(self, subject: Subject, choice: Choice, runnable: Any, values: tuple[Any, ...]) -> Any:
        inputs, outputs = values[: subject.inputs], values[subject.inputs :]
        self._inside.busy = True
        try:
            if not outputs:
                return _results(subject, choice, runnable, inputs)
            if not _overlap(inputs, outputs):
                runnable.call_destination_passing(*values)
                return None
            results = _results(subject, choice, runnable, inputs)
        finally:
            self._inside.busy = False
        many = results if isinstance(results, tuple) else (results,)
        copy_results((*subject.definition.outputs,), many, outputs)
        return None

    def _failed(
        self, subject: Subject, best: Best, error: Exception, fallback: Fallback | None
    ) -> None:
        """Strike the solution; raise where the fallback cannot repair what it may have written."""
        self.solutions.strike(subject.definition.name, best, error)
        subject.choices.clear()
        if fallback is None or subject.in_place:
            raise FictlError(
                f"solution {best.solution} of {subject.definition.name} raised "
                f"{type(error).__name__}: {error}",
                "it is not applied any more in this process",
            ) from error


def _results(subject: Subject, choice: Choice, runnable: Any, inputs: tuple[Any, ...]) -> Any:
    """Return the outputs; those of a destination-passing solution are allocated here."""
    if not runnable.metadata.destination_passing_style:
        return runnable.call_value_returning(*inputs)
    device = next((value.device for value in inputs if isinstance(value, torch.Tensor)), None)
    outputs = [
        torch.empty(shape, dtype=dtype, device=device)
        for shape, dtype in zip(choice.shapes, subject.dtypes, strict=True)
    ]
    runnable.call_destination_passing(*inputs, *outputs)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _missed(
    why: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], fallback: Fallback | None
) -> Any:
    if fallback is None:
        raise FictlError(f"apply: {why}", "pass a fallback, or evaluate a solution for this call")
    return fallback(*args, **kwargs)


def _overlap(inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """Tell whether an output shares memory with an input: solutions are judged without that."""
    read = {v.untyped_storage().data_ptr() for v in inputs if isinstance(v, torch.Tensor)}
    return any(value.untyped_storage().data_ptr() in read for value in outputs)


def _captures() -> bool:
    ready = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return bool(ready and torch.cuda.is_current_stream_capturing())
