"""The plan of a run: one job for each solution of each chosen definition."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.dataset.previous import PreviousResults, evaluated
from fictl.dataset.strikes import Strikes
from fictl.errors import UsageError
from fictl.farm.place import hardware_of
from fictl.judge.config import EvalConfig
from fictl.judge.config_file import config_file, layers
from fictl.quantity import counted
from fictl.trace.dataset.chosen import is_chosen, require_known

if TYPE_CHECKING:
    from fictl.dataset.run_options import RunOptions
    from fictl.dataset.run_places import RunPlaces
    from fictl.trace import Definition, Solution, TraceSet, Workload
    from fictl.trace.documents.reading import NotReadable

_COMPILED = ("cuda", "cpp")
_MOST_EMULATED = 10_000_000
_LARGE = "left out: {} of {} with more than 10 million elements (--large emulates them, too)"


@dataclass(frozen=True)
class EvaluationJob:
    """A solution, and the workloads of its definition that have no result yet.

    Workloads are read when needed, as there may be more than fit into memory. `scratch` is the
    folder of a build made in advance; `kind` is the hardware to evaluate it on, empty for any.
    All places count `strikes` together.
    """

    definition: Definition
    solution: Solution
    config: EvalConfig
    count: int
    done: frozenset[str] = field(default=frozenset(), repr=False)
    scratch: Path | None = None
    kind: str = ""
    strikes: Strikes = field(default_factory=Strikes, repr=False, compare=False)

    def is_at_work_as(self, other: EvaluationJob | None) -> bool:
        """Tell whether a judge of `other` is one of this job."""
        return other is not None and (
            self.solution is other.solution
            and self.config is other.config
            and self.scratch == other.scratch
        )

    @property
    def is_compiled(self) -> bool:
        """Tell whether it is built in advance, while the GPUs have other work."""
        return self.solution.spec.language.value in _COMPILED

    @property
    def is_extension(self) -> bool:
        """Tell whether torch builds it, in its own folder, and not the run's builder."""
        binding = self.solution.spec.binding
        return binding is not None and binding.value == "torch"

    def workloads(self, dataset: TraceSet) -> Iterator[Workload]:
        done = {*self.done}
        for trace in dataset.workloads(self.definition.name):
            if trace.workload.uuid not in done:
                done.add(trace.workload.uuid)
                yield trace.workload

    def __str__(self) -> str:
        return f"{self.definition.name}  {self.solution.name}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "definition": self.definition.name,
            "solution": self.solution.name,
            "author": self.solution.author,
            "workloads": self.count,
            "rtol": self.config.rtol,
            "atol": self.config.atol,
            "required_matched_ratio": self.config.required_matched_ratio,
        }


@dataclass(frozen=True)
class RunPlan:
    """Jobs to run. `skipped` counts what --resume leaves out, `left_out` explains other omissions.

    `unreadable` are lines of results that cannot be counted: their workloads are run again.
    """

    jobs: tuple[EvaluationJob, ...]
    skipped: int = 0
    is_isolated: bool = False
    left_out: tuple[str, ...] = ()
    unreadable: tuple[NotReadable, ...] = ()

    @cached_property
    def total(self) -> int:
        return sum(job.count for job in self.jobs)


def plan(
    dataset: TraceSet, options: RunOptions, hardware: Collection[str] | None = None
) -> RunPlan:
    """Plan one definition after the other, so that the results of its reference are shared.

    hardware: names whose results --resume counts; default: those that this process sees.
    """
    file = config_file(dataset.root, options.config)
    options = replace(
        options,
        definitions=options.definitions or file.only_definitions,
        solutions=options.solutions or file.only_solutions,
    )
    jobs: list[EvaluationJob] = []
    left_out: list[str] = []
    unreadable: list[NotReadable] = []
    skipped = 0
    if hardware is None:
        hardware = hardware_of(options.device, options.gpus) if options.resume else ()
    for definition, solutions in _chosen(dataset, options):
        config = layers(definition, file, {**options.flags, "device": options.device})
        large = _too_large(dataset, definition) if _is_slow(options) else frozenset()
        if large and solutions:
            left_out.append(_LARGE.format(counted(len(large), "workload"), definition.name))
        uuids = _uuids(dataset, definition) - large
        before = PreviousResults()
        if options.resume and solutions:
            before = evaluated(dataset, definition.name, options.device, hardware)
            unreadable += before.unreadable
        for solution in solutions:
            done = before.results.get(solution.hash(), frozenset()) & uuids
            skipped += len(done)
            if len(uuids) > len(done):
                job = EvaluationJob(
                    definition, solution, config, len(uuids) - len(done), done | large
                )
                jobs.append(job)
    return RunPlan(tuple(jobs), skipped, file.is_isolated, tuple(left_out), tuple(unreadable))


def plan_kinds(dataset: TraceSet, options: RunOptions, at: RunPlaces | None) -> RunPlan:
    """Plan the run on each kind of hardware that it is for."""
    if at is None:
        return plan(dataset, options)
    plans = [_of_kind(dataset, options, at, kind) for kind in at.kinds or ("",)]
    return RunPlan(
        tuple(job for planned in plans for job in planned.jobs),
        sum(planned.skipped for planned in plans),
        plans[0].is_isolated,
        (*plans[0].left_out, *at.left_out),
        plans[0].unreadable,
    )


def _of_kind(dataset: TraceSet, options: RunOptions, at: RunPlaces, kind: str) -> RunPlan:
    planned = plan(dataset, options, at.hardware_of(kind))
    return replace(
        planned, jobs=tuple(replace(job, kind=kind, strikes=Strikes()) for job in planned.jobs)
    )


def _uuids(dataset: TraceSet, definition: Definition) -> set[str]:
    """Uuids of the workloads. Results name a workload by its uuid, so it must be unique."""
    workloads: dict[str, Workload] = {}
    for trace in dataset.workloads(definition.name):
        workload = trace.workload
        if workloads.setdefault(workload.uuid, workload) != workload:
            raise UsageError(
                f"two different workloads of {definition.name} are both {workload.uuid}",
                "fictl dataset validate names their lines",
            )
    return {*workloads}


def _is_slow(options: RunOptions) -> bool:
    return options.device == "emu" and not options.large


def _too_large(dataset: TraceSet, definition: Definition) -> frozenset[str]:
    """Workloads that take minutes on the emulated device and test no more than smaller ones."""
    return frozenset(
        trace.workload.uuid
        for trace in dataset.workloads(definition.name)
        if _elements(definition, trace.workload) > _MOST_EMULATED
    )


def _elements(definition: Definition, workload: Workload) -> int:
    """Number of elements of all tensors; 0 if the sizes are invalid, which evaluation reports."""
    try:
        shapes = definition.get_input_shapes(workload.axes)
        shapes += definition.get_output_shapes(workload.axes)
    except UsageError:
        return 0
    return sum(math.prod(shape) for shape in shapes if shape is not None)


def _chosen(
    dataset: TraceSet, options: RunOptions
) -> Iterator[tuple[Definition, Sequence[Solution]]]:
    definitions = dataset.definitions
    require_known(options.definitions, definitions, "definition")
    require_known(options.op_types, {known.op_type for known in definitions.values()}, "op type")
    solutions = dataset.solutions
    every = [one.name for among in solutions.values() for one in among]
    require_known(options.solutions, every, "solution")
    for name in sorted(definitions, key=lambda name: (definitions[name].op_type, name)):
        definition = definitions[name]
        if is_chosen(name, options.definitions) and is_chosen(definition.op_type, options.op_types):
            among = solutions.get(name, ())
            yield definition, [one for one in among if is_chosen(one.name, options.solutions)]
