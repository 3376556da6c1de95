"""All that one `fictl inspect` answers: the kernels, the gates, and what another revision had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fictl.arch import Arch
from fictl.errors import FictlError, UsageError
from fictl.inspect.difference import Difference, compare
from fictl.inspect.gate import Gate, Violation, check, parse_gates
from fictl.inspect.inspected import Inspected
from fictl.inspect.metrics import Launch
from fictl.inspect.selection import inspect, inspect_revision, only
from fictl.jit.progress import BuildObserver


@dataclass(frozen=True)
class Request:
    """`names` are ops, or compiled and .cu files; `pattern` selects kernels by name."""

    names: tuple[str, ...] = ()
    archs: tuple[Arch, ...] = ()
    pattern: str = ""
    gates: tuple[str, ...] = ()
    against: str = ""
    launch: Launch = field(default_factory=Launch)


@dataclass(frozen=True)
class Report:
    """`before` are the modules of the revision that `against` is the label of."""

    modules: tuple[Inspected, ...]
    launch: Launch
    gates: tuple[Gate, ...] = ()
    violations: tuple[Violation, ...] = ()
    against: str = ""
    before: tuple[Inspected, ...] = ()
    differences: tuple[Difference, ...] = ()

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
            "violations": [each.to_dict() for each in self.violations],
            "against": self.against or None,
            "differences": [each.to_dict() for each in self.differences],
        }


def report(request: Request, observer: BuildObserver) -> Report:
    """Gates are read first: a wrong one costs no compile."""
    gates = parse_gates(request.gates)
    label, before = "", tuple[Inspected, ...]()
    modules = only(inspect(request.names, request.archs, observer), request.pattern)
    if request.against:
        label, old = inspect_revision(request.names, request.against, request.archs, observer)
        before = tuple(_kept(old, request.pattern))
    if gates and not any(one.kernels or one.error for one in modules):
        raise UsageError(f"there is no kernel to hold {gates[0]} against", _why(modules))
    violations = [each for one in modules for each in check(gates, one, request.launch)]
    differences = _compared(before, modules, request.launch) if label else ()
    return Report(
        tuple(modules), request.launch, gates, tuple(violations), label, before, tuple(differences)
    )


def _kept(found: list[Inspected], pattern: str) -> list[Inspected]:
    """A kernel that one asks for may be new."""
    try:
        return only(found, pattern)
    except UsageError:
        return []


def _compared(
    before: Sequence[Inspected], now: Sequence[Inspected], launch: Launch
) -> list[Difference]:
    """Module by module: two of them may have kernels of one name."""
    old = {one.module: one for one in before}
    new = {one.module: one for one in now}
    return [
        each
        for name in {**new, **old}
        for each in compare(_kernels(old.get(name)), _kernels(new.get(name)), launch)
    ]


def _kernels(found: Inspected | None) -> tuple[Any, ...]:
    return found.kernels if found else ()


def _why(modules: Sequence[Inspected]) -> str:
    return "; ".join(f"{one.module}: {one.note}" for one in modules if one.note)
