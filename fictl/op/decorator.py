"""`@op(...)`: the declaration of a public function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from fictl.arch import ArchRule
from fictl.dtype import parse_dtype
from fictl.errors import InvalidValue, UsageError
from fictl.op.backend.backends import declared_backends
from fictl.op.backend.choice import Choices
from fictl.op.backend.chosen import chosen
from fictl.op.backend.offer import offer_questions
from fictl.op.declared import Op
from fictl.op.declared_settings import declare_settings
from fictl.op.gradient.backward import Backward
from fictl.op.gradient.checked import checked
from fictl.op.interception import offer
from fictl.op.run_of_class import RunOfClass
from fictl.op.tactics.tuned import tuned
from fictl.op.watch.call import remembering
from fictl.op.watch.observed import observed
from fictl.op.watch.observers import observers
from fictl.project.declaration import DEVICES
from fictl.trace import TraceTemplate

F = TypeVar("F", bound=Callable[..., Any])


def op(
    *,
    dtypes: str,
    mutates: str,
    archs: str = "",
    devices: str = "cuda",
    uses: str = "",
    settings: Mapping[str, str] | None = None,
    backends: Mapping[str, str] | None = None,
    check: Callable[..., Any] | None = None,
    checks: Mapping[str, Callable[..., Any]] | None = None,
    heuristic: Callable[..., Any] | None = None,
    tactics: Callable[..., Iterable[Any]] | None = None,
    backward: Callable[..., Mapping[str, Any]] | None = None,
    trace: TraceTemplate | None = None,
) -> Callable[[F], F]:
    """Declare a public function, or `run` of a class with plan and run.

    `archs` as in '>=8.0' or '9.0a 10.0f'; `dtypes` as in 'f16 bf16'; `mutates` names the arguments
    written; `uses` names ops of other modules that this one calls; `settings` its own variables.
    `backends` as in {"sm90": "9.0a", "sm80": ">=8.0"}, best first: then `archs` may be left out, and
    the function gets the one chosen for `backend="auto"`. These are literals: `fictl list` reads
    them unimported.

    `check` of every call, `checks` by backend: they take those of the arguments that they name and
    answer True, False or the reason against. `heuristic(suitable, …)` returns the order of
    preference. `tactics` likewise takes arguments, and gives what the function may get as `tactic`:
    named tuples of small values that change how fast it is and nothing else, the default first.
    All may depend on dtypes, devices, Const axes and the values of other arguments.
    `backward` gives gradients: it takes arguments, results (as `mutates` calls them) and, as
    `grad_out`, the gradients of these, and returns {argument: gradient}. Without it a call in which
    an argument requires grad is refused. `trace` is for functions in no op folder.
    """
    unknown = set(devices.split()) - set(DEVICES)
    if unknown:
        raise InvalidValue(f"unknown devices {sorted(unknown)}", f"some of {' '.join(DEVICES)}")
    own = {name: ArchRule.parse(text) for name, text in (backends or {}).items()}
    everywhere, rule = _rules(archs, own)
    elements = tuple(parse_dtype(name) for name in dtypes.split())

    def declare(function: F) -> F:
        owner = _owner(function)
        declared = Op(
            owner or function.__name__,
            rule,
            elements,
            tuple(devices.split()),
            tuple(mutates.split()),
            tuple(uses.split()),
            tuple(settings or ()),
            function.__module__,
            trace,
        )
        declare_settings(settings or {})
        parameters = tuple(inspect.signature(function).parameters.values())[bool(owner) :]
        ways = declared_backends(
            declared.name,
            [parameter.name for parameter in parameters],
            everywhere,
            own,
            check,
            checks or {},
            heuristic,
            declared.settings,
        )
        called: Any = tuned(function, declared, tactics) if tactics else function
        if own or check:
            called = chosen(called, Choices(ways, parameters, partial(_template, declared)))
        gradient = _backward(declared, parameters, owner, backward)
        wrapper = checked(called, declared.name, gradient, declared.mutates)
        called = offer(wrapper, called, declared)
        offer_questions(called, ways, parameters)
        watching = observers()
        result: Any = observed(called, declared, watching) if watching else called
        result.op = declared
        around = [partial(_checked_plan, declared), *([remembering] if watching else ())]
        return cast("F", RunOfClass(result, around) if owner else result)

    return declare


def _rules(archs: str, backends: Mapping[str, ArchRule]) -> tuple[ArchRule | None, ArchRule]:
    """Return the op's own architectures, if declared, and all architectures that it runs on."""
    if archs:
        return (rule := ArchRule.parse(archs)), rule
    if not backends:
        raise InvalidValue("@op lacks archs", 'write archs=">=8.0", or backends')
    return None, ArchRule.any_of(backends.values())


def _backward(
    declared: Op,
    parameters: Sequence[inspect.Parameter],
    owner: str,
    function: Callable[..., Mapping[str, Any]] | None,
) -> Backward | None:
    if function is None:
        return None
    if owner:
        raise UsageError(
            f"{owner}: a class with plan and run has no backward",
            "another plan() may come before the gradient is asked for: declare a function",
        )
    return Backward(function, declared.name, parameters, declared.mutates)


def _checked_plan(declared: Op, plan: Callable[..., Any]) -> Callable[..., Any]:
    return offer(checked(plan, declared.name), plan, declared, is_plan=True)


def _template(declared: Op) -> TraceTemplate | None:
    """Return the op's trace; None if it has none: then the key of a choice has every size."""
    try:
        return declared.template
    except UsageError:
        return None


def _owner(function: Callable[..., Any]) -> str:
    """Return the class that defines a method; '' for a function."""
    path = function.__qualname__.rpartition("<locals>.")[2]
    return path.rpartition(".")[0]
