"""Report of `fictl inspect`: the kernels, broken gates, and the difference to a revision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fictl.arch import Arch
from fictl.errors import FictlError, UsageError
from fictl.inspect.difference import KernelDifference, compare
from fictl.inspect.gate import Gate, Violation, check, parse_gates
from fictl.inspect.inspected import Inspected
from fictl.inspect.metrics import LaunchSize
from fictl.inspect.selection import inspect, inspect_revision, only
from fictl.jit.progress import BuildObserver


@dataclass(frozen=True)
class InspectRequest:
    """Request: `names` are ops, compiled or .cu files; `pattern` selects kernels by name."""

    names: tuple[str, ...] = ()
    archs: tuple[Arch, ...] = ()
    pattern: str = ""
    gates: tuple[str, ...] = ()
    against: str = ""
    launch: LaunchSize = field(default_factory=LaunchSize)


@dataclass(frozen=True)
class InspectReport:
    """Result of an inspection; `before` holds the modules of the revision labelled `against`."""

    modules: tuple[Inspected, ...]
    launch: LaunchSize
    gates: tuple[Gate, ...] = ()
    violations: tuple[Violation, ...] = ()
    against: str = ""
    before: tuple[Inspected, ...] = ()
    differences: tuple[KernelDifference, ...] = ()

    @property
    def errors(self) -> list[FictlError]:
        return [one.error for one in (*self.modules, *self.before) if one.error]

    @property
    def exit_code(self) -> int:
        codes = [error.exit_code for error in self.errors]
        return max([*codes, 1 if self.violations else 0])

    def to_dict(self) -> dict[str, Any]:
        return {
            "modules": [one.to_dict(self.launch) for one in self.modules],
            "gates": [str(gate) for gate in self.gates],
            "violations": [violation.to_dict() for violation in self.violations],
            "against": self.against or None,
            "differences": [difference.to_dict() for difference in self.differences],
        }


def report(request: InspectRequest, observer: BuildObserver) -> InspectReport:
    """Inspect, check the gates and compare; a malformed gate is an error before any compile."""
    gates = parse_gates(request.gates)
    label, before = "", tuple[Inspected, ...]()
    modules = only(inspect(request.names, request.archs, observer), request.pattern)
    if request.against:
        label, old = inspect_revision(request.names, request.against, request.archs, observer)
        before = tuple(_kept(old, request.pattern))
    if gates and not any(one.kernels or one.error for one in modules):
        raise UsageError(f"there is no kernel to hold {gates[0]} against", _why(modules))
    violations = [bad for one in modules for bad in check(gates, one, request.launch)]
    differences = _compared(before, modules, request.launch) if label else ()
    return InspectReport(
        tuple(modules), request.launch, gates, tuple(violations), label, before, tuple(differences)
    )


def _kept(modules: list[Inspected], pattern: str) -> list[Inspected]:
    """Select kernels of the old revision; none may match, as the kernel may be new."""
    try:
        return only(modules, pattern)
    except UsageError:
        return []


def _compared(
    before: Sequence[Inspected], now: Sequence[Inspected], launch: LaunchSize
) -> list[KernelDifference]:
    """Compare module by module, as two modules may have kernels with the same name."""
    old = {one.module: one for one in before}
    new = {one.module: one for one in now}
    return [
        difference
        for name in {**new, **old}
        for difference in compare(_kernels(old.get(name)), _kernels(new.get(name)), launch)
    ]


def _kernels(module: Inspected | None) -> tuple[Any, ...]:
    return module.kernels if module else ()


def _why(modules: Sequence[Inspected]) -> str:
    return "; ".join(f"{one.module}: {one.note}" for one in modules if one.note)
