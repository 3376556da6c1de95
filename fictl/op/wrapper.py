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
    found = tuple(signature(function).parameters.values())
    for each in found:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise UsageError(
                f"{function.__name__} takes {each}", "write out the parameters: checks see them"
            )
    return found


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
        **{f"_default_{each.name}": each.default for each in (*parameters, *added)},
    }
    name = function.__name__ if function.__name__.isidentifier() else "wrapper"  # a lambda's is not
    source = text.format(
        name=name,
        signature=_signature((*parameters, *added)),
        passed=", ".join(_passed(each, replaced) for each in parameters),
        **more,
    )
    # In a function that has them as variables: Dynamo looks globals up in the module of the name.
    factory = f"def make({', '.join(around)}):\n{indent(source, '    ')}    return {name}\n"
    made: dict[str, Any] = {}
    code = compile(factory, f"<{__name__} {name}>", "exec")
    exec(code, globals(), made)  # noqa: S102 names of parameters
    return wraps(function)(made["make"](**around))


def _signature(parameters: Sequence[Parameter]) -> str:
    """As in the head of a definition; defaults are names, since they may be any object."""
    words: list[str] = []
    kinds = [each.kind for each in parameters]
    for position, each in enumerate(parameters):
        if each.kind is each.KEYWORD_ONLY and each.KEYWORD_ONLY not in kinds[:position]:
            words.append("*")
        bare = each.default is each.empty
        words.append(each.name if bare else f"{each.name}=_default_{each.name}")
        last = position + 1 == len(kinds) or kinds[position + 1] is not each.POSITIONAL_ONLY
        if each.kind is each.POSITIONAL_ONLY and last:
            words.append("/")
    return ", ".join(words)


def _passed(parameter: Parameter, replaced: Mapping[str, str]) -> str:
    value = replaced.get(parameter.name, parameter.name)
    keyword = parameter.kind is parameter.KEYWORD_ONLY
    return f"{parameter.name}={value}" if keyword else value
