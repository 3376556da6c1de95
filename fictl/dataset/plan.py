"""What a run will do: one job for each solution of each definition chosen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.dataset.earlier import evaluated
from fictl.errors import UsageError
from fictl.judge.config import EvalConfig
from fictl.judge.config_file import config_file, layers
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.dataset.options import RunOptions
    from fictl.trace import Definition, Solution, TraceSet, Workload

_COMPILED = ("cuda", "cpp")
_MOST_EMULATED = 10_000_000
_LARGE = "left out: {} of {} with more than 10 million elements (--large emulates them, too)"


@dataclass(frozen=True)
class Job:
    """A solution on the workloads of its definition that have no result yet.

    The workloads are read when they are needed: there may be more than fit in memory. `scratch` is
    where it was built ahead.
    """

    definition: Definition
    solution: Solution
    config: EvalConfig
    count: int
    done: frozenset[str] = field(default=frozenset(), repr=False)
    scratch: Path | None = None

    @property
    def is_compiled(self) -> bool:
        """Ahead of the rest, then, while the GPUs have something else to do."""
        return self.solution.spec.language.value in _COMPILED

    def workloads(self, dataset: TraceSet) -> Iterator[Workload]:
        for trace in dataset.workloads(self.definition.name):
            if trace.workload.uuid not in self.done:
                yield trace.workload

    def __str__(self) -> str:
        return f"{self.definition.name}  {self.solution.name}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "definition": self.definition.name, "solution": self.solution.name,
            "author": self.solution.author, "workloads": self.count,
            "rtol": self.config.rtol, "atol": self.config.atol,
            "required_matched_ratio": self.config.required_matched_ratio,
        }  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """`skipped` counts what `--resume` leaves out, `left_out` says why others are not run."""

    jobs: tuple[Job, ...]
    skipped: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(job.count for job in self.jobs)


def plan(dataset: TraceSet, options: RunOptions) -> Plan:
    """Definitions one after the other, so that what their reference computes is kept for all."""
    file = config_file(dataset.root, options.config)
    jobs: list[Job] = []
    left_out: list[str] = []
    skipped = 0
    for definition, solutions in _chosen(dataset, options):
        config = layers(definition, file, {**options.flags, "device": options.device})
        large = _too_large(dataset, definition) if _is_slow(options) else frozenset()
        if large and solutions:
            left_out.append(_LARGE.format(counted(len(large), "workload"), definition.name))
        uuids = [
            trace.workload.uuid
            for trace in dataset.workloads(definition.name)
            if trace.workload.uuid not in large
        ]
        known: Mapping[str, frozenset[str]] = {}
        if options.resume:
            known = evaluated(dataset, definition.name, options.device)
        for solution in solutions:
            done = known.get(solution.hash(), frozenset()) & {*uuids}
            skipped += len(done)
            if len(uuids) > len(done):
                job = Job(definition, solution, config, len(uuids) - len(done), done | large)
                jobs.append(job)
    return Plan(tuple(jobs), skipped, tuple(left_out))


def _is_slow(options: RunOptions) -> bool:
    return options.device == "emu" and not options.large


def _too_large(dataset: TraceSet, definition: Definition) -> frozenset[str]:
    """Workloads that would take minutes there, and tell nothing that smaller ones do not."""
    return frozenset(
        trace.workload.uuid
        for trace in dataset.workloads(definition.name)
        if _elements(definition, trace.workload) > _MOST_EMULATED
    )


def _elements(definition: Definition, workload: Workload) -> int:
    """Of all tensors. What has no sizes is told when it is evaluated."""
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
    _require(options.definitions, definitions, "definition")
    _require(options.op_types, {each.op_type for each in definitions.values()}, "op type")
    every = [one.name for among in dataset.solutions.values() for one in among]
    _require(options.solutions, every, "solution")
    for name in sorted(definitions, key=lambda name: (definitions[name].op_type, name)):
        definition = definitions[name]
        if _fits(name, options.definitions) and _fits(definition.op_type, options.op_types):
            among = dataset.solutions.get(name, ())
            yield definition, [one for one in among if _fits(one.name, options.solutions)]


def _fits(name: str, patterns: Iterable[str]) -> bool:
    """No pattern fits all."""
    listed = [*patterns]
    return not listed or any(fnmatchcase(name, pattern) for pattern in listed)


def _require(patterns: Iterable[str], names: Iterable[str], what: str) -> None:
    """Each of them names something: a slip of the pen is no empty run."""
    known = [*names]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in known):
            near = get_close_matches(pattern, known, 3)
            hint = f"is it {' or '.join(near)}?" if near else f"there are {len(known)}"
            raise UsageError(f"there is no {what} {pattern!r}", hint)
