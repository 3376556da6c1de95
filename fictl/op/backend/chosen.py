"""A public function behind the choice of its backend, with the signature that it has.

It is compiled from a few lines of text, as dataclasses do it: binding a call's arguments by
`inspect` would cost ten times what looking the choice up does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter
from textwrap import indent
from typing import Any

from fictl.errors import UsageError
from fictl.op.backend.backends import AUTO
from fictl.op.backend.choice import Choices
from fictl.op.backend.suitable import Suitable

_LOOKED_UP = """\
def {name}({signature}):
    try:
        found = _remembered.get(_choices.key({own}))
    except _no_key:
        found = None
    if found is None:
        found = _choices.make({own})
    return _function({passed})
"""

# As the seed of this interface has it: `skip_check`, and 'auto' is left to the function, which
# reads suitable_auto_backends.
_OFFERED = """\
def {name}({signature}):
    try:
        found = _remembered.get(_choices.key({own}))
    except _no_key:
        found = None
    if skip_check:
        found = _choices.unchecked({own})
    if found is None:
        found = _choices.make({own})
    if not ({is_auto}):
        return _function({passed})
    before = _suitable.offer(found)
    try:
        return _function({passed})
    finally:
        _suitable.restore(before)
"""


def chosen(function: Callable[..., Any], choices: Choices) -> Callable[..., Any]:
    """Called like `function`, which gets the backend chosen in place of 'auto'."""
    given = "found[0]" if choices.backends.needs else "backend"
    return _compiled(_LOOKED_UP, function, choices, {"backend": given}, {})


def offering(
    function: Callable[..., Any], choices: Choices, suitable: Suitable
) -> Callable[..., Any]:
    """The same with 'auto' left as it is, and `skip_check`."""
    if "skip_check" in inspect.signature(function).parameters:
        raise UsageError(f"{function.__name__} has a parameter skip_check", "it is added to it")
    return _compiled(_OFFERED, function, choices, {}, {"_suitable": suitable})


def plain_parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Those of `function`, which are all named."""
    found = tuple(inspect.signature(function).parameters.values())
    for each in found:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise UsageError(
                f"{function.__name__} takes {each}", "write out the parameters: checks see them"
            )
    return found


def _compiled(
    text: str,
    function: Callable[..., Any],
    choices: Choices,
    replaced: dict[str, str],
    more: dict[str, Any],
) -> Callable[..., Any]:
    parameters = plain_parameters(function)
    added = [Parameter("skip_check", Parameter.KEYWORD_ONLY, default=False)] if more else []
    outside: dict[str, Any] = {
        "_function": function, "_choices": choices, "_remembered": choices.remembered,
        "_no_key": choices.no_key, **more,
        **{f"_default_{each.name}": each.default for each in (*parameters, *added)},
    }  # fmt: skip
    own = [each.name for each in parameters if each.name in choices.backends.parameters]
    source = text.format(
        name=function.__name__,
        signature=_signature((*parameters, *added)),
        own=", ".join(own),
        passed=", ".join(_passed(each, replaced) for each in parameters),
        is_auto=f"backend == {AUTO!r}" if choices.backends.needs else "False",
    )
    # In a function that has them as variables: Dynamo looks globals up in the module of the name.
    name = function.__name__
    factory = f"def make({', '.join(outside)}):\n{indent(source, '    ')}    return {name}\n"
    made: dict[str, Any] = {}
    code = compile(factory, f"<{__name__} {name}>", "exec")
    exec(code, globals(), made)  # noqa: S102 names of parameters
    return wraps(function)(made["make"](**outside))


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


def _passed(parameter: Parameter, replaced: dict[str, str]) -> str:
    value = replaced.get(parameter.name, parameter.name)
    keyword = parameter.kind is parameter.KEYWORD_ONLY
    return f"{parameter.name}={value}" if keyword else value
