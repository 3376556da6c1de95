"""The hooks in ops: tracing sees each call, then apply may serve it, then the op does.

FlashInfer's names in fictl.compat.flashinfer are the same functions, so that these hooks are in
them, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from fictl.apply import ApplyExplanation, ApplyRuntime
from fictl.apply.api import OFF
from fictl.integration.adapters import adapter_of
from fictl.op import Op, declaration
from fictl.op.interception import intercept, release
from fictl.runnable.results import as_tuple, copy_results
from fictl.tracing import TracingRuntime
from fictl.tracing.op_calls import MOST_KINDS, OpCall, OpCalls

Function = Callable[..., Any]

_answers: WeakKeyDictionary[ApplyRuntime, dict[int, tuple[OpCall, str]]] = WeakKeyDictionary()

# What a fallback returns to its own hook: no solution ran.
_MISSED = object()


def install() -> None:
    """Put the hooks into all ops, those included that are imported already; again does nothing."""
    intercept(_applied)
    intercept(_traced)


def uninstall() -> None:
    """Take the hooks away: the ops are as they were."""
    release(_traced)
    release(_applied)


def explain(api: Any, *args: Any, **kwargs: Any) -> ApplyExplanation:
    """Explain which solution a call of an op would run, or why the op itself runs."""
    op = declaration(api)
    calls = OpCalls(op, _plain(api))
    if calls.is_method:
        args = (getattr(api, "__self__", None), *args)
    values = {**_defaults(calls), **calls.values(args, kwargs)}
    call = calls.describe(values)
    current = ApplyRuntime.current()
    why = OFF if current is None else _why_not(call, current)
    if why or current is None or call.definition is None:
        name = call.definition.name if call.definition else op.api
        return ApplyExplanation(name, applies=False, why=why)
    return current.explain(call.definition.name, (*call.input_values(values).values(),))


def _traced(op: Op, function: Function) -> Function:
    calls: list[OpCalls] = []
    api = op.api

    def traced(*args: Any, **kwargs: Any) -> Any:
        current = TracingRuntime.current()
        if current is None or ApplyRuntime.is_inside():
            return function(*args, **kwargs)
        if adapter_of(api) is None:
            if not calls:
                calls.append(OpCalls(op, function))
            _collect(current, calls[0], args, kwargs)
        elif ApplyRuntime.current() is None:
            return _adapted(op, calls, function, args, kwargs)
        return function(*args, **kwargs)

    return _signed(traced, function)


def _collect(
    current: TracingRuntime, calls: OpCalls, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    values = calls.values(args, kwargs)
    call = calls.describe(values)
    if call.definition is not None and call.axes is not None:
        current.define(call.definition)
        current.submit(call.definition, call.axes, call.input_values(values))


def _applied(op: Op, function: Function) -> Function:
    calls: list[OpCalls] = []
    api = op.api

    def applied(*args: Any, **kwargs: Any) -> Any:
        current = ApplyRuntime.current()
        if current is None or ApplyRuntime.is_inside():
            return function(*args, **kwargs)
        if adapter_of(api) is not None:
            return _adapted(op, calls, function, args, kwargs)
        if not calls:
            calls.append(OpCalls(op, function))
        return _served(current, calls[0], function, args, kwargs)

    return _signed(applied, function)


def _adapted(
    op: Op,
    calls: list[OpCalls],
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call the adapter with the op bound to its object; plan's arguments come by name."""
    if not calls:
        calls.append(OpCalls(op, function))
    adapt = adapter_of(op.api)
    assert adapt is not None
    if not calls[0].is_method:
        return adapt(function, *args, **kwargs)
    named = calls[0].values(args, kwargs)
    plan = {name: value for name, value in named.items() if name not in calls[0].names}
    return adapt(partial(function, args[0]), *args[1:], **kwargs, **plan)


def _served(
    current: ApplyRuntime,
    calls: OpCalls,
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    values = calls.values(args, kwargs)
    call = calls.describe(values)
    if call.definition is None or _known_why_not(call, current):
        return function(*args, **kwargs)
    inputs, given = call.input_values(values), call.given_outputs(values)
    name, outputs = call.definition.name, [*call.definition.outputs]
    is_written = [*given] == outputs and not any(output in inputs for output in outputs)
    passed = (*inputs.values(), *given.values()) if is_written else (*inputs.values(),)
    result = current.dispatch(name, passed, {}, lambda *_: _MISSED)
    if result is _MISSED:
        return function(*args, **kwargs)
    results = given if is_written else dict(zip(outputs, as_tuple(result), strict=True))
    if given and not is_written:
        copy_results([*given], [results[output] for output in given], [*given.values()])
    return _returned(call, {**results, **{o: values[o] for o in given}}, given)


def _returned(call: OpCall, results: dict[str, Any], given: dict[str, Any]) -> Any:
    """Return what the op would return: tensors of the caller as they were passed."""
    leading = call.leading or {}
    shaped = [
        result.view(*leading[name], *result.shape[1:])
        if name in leading and name not in given
        else result
        for name, result in results.items()
        if name in call.returned
    ]
    return (shaped[0] if len(shaped) == 1 else tuple(shaped)) if shaped else None


def _known_why_not(call: OpCall, current: ApplyRuntime) -> str:
    """Return what _why_not says, asked once for each kind of call."""
    answers = _answers.setdefault(current, {})
    known = answers.get(id(call))
    if known is None or known[0] is not call:
        if len(answers) >= MOST_KINDS:
            answers.clear()
        known = answers[id(call)] = (call, _why_not(call, current))
    return known[1]


def _why_not(call: OpCall, current: ApplyRuntime) -> str:
    """Say why a call is the op's own; '' if a solution may serve it."""
    if call.definition is None:
        return call.why
    if call.other:
        return f"{call.other} is given, which definitions do not have"
    theirs = current.dataset.definitions.get(call.definition.name)
    if theirs is None:
        return f"the dataset has no definition {call.definition.name!r}"
    if not _is_the_same(theirs, call.definition):
        return f"the dataset's {theirs.name} is another computation than this op's"
    return ""


def _is_the_same(one: Any, other: Any) -> bool:
    """Compare what definitions compute, and the order of inputs and outputs."""
    if one is other:
        return True
    fields = ("axes", "inputs", "outputs", "constraints", "reference")
    return [*one.inputs] == [*other.inputs] and all(
        _bare(getattr(one, field)) == _bare(getattr(other, field)) for field in fields
    )


def _bare(value: Any) -> Any:
    """Return documents without their descriptions."""
    if not isinstance(value, dict):
        return value
    return {name: part.model_dump(exclude={"description"}) for name, part in sorted(value.items())}


def _signed(hook: Function, function: Function) -> Function:
    """Give a hook the signature of what it hooks, which OpCalls of further hooks reads."""
    from functools import wraps

    return wraps(function)(hook)


def _plain(api: Any) -> Function:
    run: Function = getattr(api, "run", api) if not hasattr(api, "op") else api
    return getattr(run, "__func__", run)


def _defaults(calls: OpCalls) -> dict[str, Any]:
    empty = type(next(iter(calls.parameters.values()))).empty if calls.parameters else None
    return {
        name: parameter.default
        for name, parameter in calls.parameters.items()
        if name in calls.names and parameter.default is not empty
    }
