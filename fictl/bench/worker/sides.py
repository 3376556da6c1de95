"""Sides to time: the op or its backends, and the requested baselines of its bench.py."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from fictl.bench.options import ALL, BenchOptions
from fictl.case.contender import Contender, own
from fictl.case.subject import Call, Subject
from fictl.errors import UsageError
from fictl.project import OpFolder


def declared_baselines(bench: ModuleType, function: str) -> dict[str, Callable[..., Any]]:
    """Call `baselines()` of a bench.py, or `baselines(function)` if there are several functions."""
    declared = getattr(bench, "baselines", None)
    if declared is None:
        return {}
    return dict(declared(function) if inspect.signature(declared).parameters else declared())


def contenders(
    folder: OpFolder, subject: Subject, options: BenchOptions, bench: ModuleType
) -> list[Contender]:
    """Make the contenders of a case, our own first."""
    there = declared_baselines(bench, subject.function)
    asked = there if ALL in options.baselines else options.baselines
    others = [baseline(name, there[name]) for name in asked if name in there]
    return [*_own(folder, subject, options), *others]


def missing_baselines(folder: OpFolder, names: set[str], options: BenchOptions) -> list[str]:
    """List requested baselines that no function of the folder has."""
    bench = folder.load("bench")
    there = {name for function in names for name in declared_baselines(bench, function)}
    return [name for name in options.baselines if name not in there | {ALL}]


def _own(folder: OpFolder, subject: Subject, options: BenchOptions) -> Iterator[Contender]:
    declared = next(d for d in folder.declarations() if d.name == subject.function)
    if not options.backends:
        yield own(subject)
        return
    unknown = [name for name in options.backends if name not in {*declared.backends, ALL}]
    if unknown or not declared.backends:
        raise UsageError(
            f"{subject.function} has no backend {', '.join(unknown or options.backends)}",
            f"it has {', '.join(declared.backends) or 'none: leave --backend out'}",
        )
    wanted = [*declared.backends] if ALL in options.backends else options.backends
    yield from (own(subject, name) for name in wanted)


def baseline(name: str, function: Callable[..., Any]) -> Contender:
    """Wrap a baseline. If it returns a callable, it has prepared the call, which alone is timed."""

    def prepare(inputs: Mapping[str, Any], _outputs: Mapping[str, Any]) -> tuple[Call, Call]:
        first = function(**inputs)
        run = first if callable(first) else lambda: function(**inputs)
        return _nothing, run

    declared = getattr(function, "tolerances", None)
    return Contender(name, prepare, is_baseline=True, tolerances=declared)


def _nothing() -> None:
    """Stand in for a baseline's plan, which is not timed."""
