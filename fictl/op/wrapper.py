"""A wrapper of a function with the same signature, compiled from a few lines of text.

The technique of dataclasses: binding a call's arguments by `inspect` would cost ten times as
much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from textwrap import indent
from typing import Any, cast

from fictl.errors import UsageError

_FACTORY = """\
def make({parameters}):
{source}
    def put_function(function):
        nonlocal _function
        _function = function
    return {name}, put_function
"""


def plain_parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of `function`, all of which are named."""
    parameters = tuple(signature(function).parameters.values())
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UsageError(
                f"{function.__name__} takes {parameter}",
                "write out the parameters: checks see them",
            )
    return parameters


def compiled(
    text: str,
    function: Callable[..., Any],
    outside: Mapping[str, Any],
    replaced: Mapping[str, str],
    added: Sequence[Parameter] = (),
    **more: str,
) -> Callable[..., Any]:
    """Compile `text` with {name}, {signature}, {passed} and `more` filled in.

    The text calls `_function`. `outside`: other names it uses. `replaced`: parameter -> expression
    to pass on instead. `added`: parameters that are not passed on. The wrapper's `put_function`
    makes it call another function from then on.
    """
    parameters = plain_parameters(function)
    around: dict[str, Any] = {
        "_function": function,
        **outside,
        **{f"_default_{parameter.name}": parameter.default for parameter in (*parameters, *added)},
    }
    name = function.__name__ if function.__name__.isidentifier() else "wrapper"  # a lambda's is not
    source = text.format(
        name=name,
        signature=_signature((*parameters, *added)),
        passed=", ".join(_passed(parameter, replaced) for parameter in parameters),
        **more,
    )
    # Inside a function with them as variables: Dynamo looks globals up by the module's name.
    factory = _FACTORY.format(
        parameters=", ".join(around), source=indent(source, "    "), name=name
    )
    namespace: dict[str, Any] = {}
    code = compile(factory, f"<{__name__} {name}>", "exec")
    exec(code, globals(), namespace)  # noqa: S102 names of parameters
    wrapper, put_function = namespace["make"](**around)
    wrapper = cast("Callable[..., Any]", wraps(function)(wrapper))
    vars(wrapper)["put_function"] = put_function
    return wrapper


def _signature(parameters: Sequence[Parameter]) -> str:
    """Write the parameters of a definition; defaults are names, since they may be any object."""
    words: list[str] = []
    kinds = [parameter.kind for parameter in parameters]
    for position, parameter in enumerate(parameters):
        if (
            parameter.kind is parameter.KEYWORD_ONLY
            and parameter.KEYWORD_ONLY not in kinds[:position]
        ):
            words.append("*")
        bare = parameter.default is parameter.empty
        words.append(parameter.name if bare else f"{parameter.name}=_default_{parameter.name}")
        last = position + 1 == len(kinds) or kinds[position + 1] is not parameter.POSITIONAL_ONLY
        if parameter.kind is parameter.POSITIONAL_ONLY and last:
            words.append("/")
    return ", ".join(words)


def _passed(parameter: Parameter, replaced: Mapping[str, str]) -> str:
    value = replaced.get(parameter.name, parameter.name)
    keyword = parameter.kind is parameter.KEYWORD_ONLY
    return f"{parameter.name}={value}" if keyword else value
