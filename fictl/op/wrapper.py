"""A function put around another, with its signature, compiled from a few lines of text.

As dataclasses do it: binding a call's arguments by `inspect` would cost ten times what such a
wrapper does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from textwrap import indent
from typing import Any

from fictl.errors import UsageError


def plain_parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Those of `function`, which are all named."""
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
    """`text` with {name}, {signature} and {passed} filled in, and `more`.

    It calls `_function`; `outside` are the names that it uses beside; `replaced` says what is
    passed on in place of a parameter, and `added` are parameters that are not passed on.
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
    # In a function that has them as variables: Dynamo looks globals up in the module of the name.
    factory = f"def make({', '.join(around)}):\n{indent(source, '    ')}    return {name}\n"
    namespace: dict[str, Any] = {}
    code = compile(factory, f"<{__name__} {name}>", "exec")
    exec(code, globals(), namespace)  # noqa: S102 names of parameters
    return wraps(function)(namespace["make"](**around))


def _signature(parameters: Sequence[Parameter]) -> str:
    """The parameters in the head of a definition; defaults are names, as they may be any object."""
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
