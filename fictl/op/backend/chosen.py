"""Wrappers that choose a backend and call the public function, with its signature."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Any

from fictl.errors import UsageError
from fictl.op.backend.backends import AUTO
from fictl.op.backend.choice import Choices
from fictl.op.backend.suitable import Suitable
from fictl.op.wrapper import compiled, plain_parameters

_LOOKED_UP = """\
def {name}({signature}):
    try:
        _choice = _remembered.get(_choices.key({own}))
    except _no_key:
        _choice = None
    if _choice is None:
        _choice = _choices.make({own})
    return _function({passed})
"""

# As in FlashInfer: `skip_check` exists, and 'auto' is passed to the function, which
# reads suitable_auto_backends.
_OFFERED = """\
def {name}({signature}):
    try:
        _choice = _remembered.get(_choices.key({own}))
    except _no_key:
        _choice = None
    if skip_check:
        _choice = _choices.unchecked({own})
    if _choice is None:
        _choice = _choices.make({own})
    if not ({is_auto}):
        return _function({passed})
    before = _suitable.offer(_choice)
    try:
        return _function({passed})
    finally:
        _suitable.restore(before)
"""


def chosen(function: Callable[..., Any], choices: Choices) -> Callable[..., Any]:
    """Wrap `function`, which gets the chosen backend instead of 'auto'."""
    given = "_choice[0]" if choices.backends.needs else "backend"
    return _compiled(_LOOKED_UP, function, choices, {"backend": given}, {})


def offering(
    function: Callable[..., Any], choices: Choices, suitable: Suitable
) -> Callable[..., Any]:
    """Wrap `function`: 'auto' is passed unchanged, and `skip_check` is added."""
    if "skip_check" in {parameter.name for parameter in plain_parameters(function)}:
        raise UsageError(f"{function.__name__} has a parameter skip_check", "it is added to it")
    return _compiled(_OFFERED, function, choices, {}, {"_suitable": suitable})


def _compiled(
    text: str,
    function: Callable[..., Any],
    choices: Choices,
    replaced: dict[str, str],
    more: dict[str, Any],
) -> Callable[..., Any]:
    outside = {
        "_choices": choices,
        "_remembered": choices.remembered,
        "_no_key": choices.no_key,
        **more,
    }
    added = [Parameter("skip_check", Parameter.KEYWORD_ONLY, default=False)] if more else []
    names = [parameter.name for parameter in plain_parameters(function)]
    return compiled(
        text,
        function,
        outside,
        replaced,
        added,
        own=", ".join(name for name in names if name in choices.backends.parameters),
        is_auto=f"backend == {AUTO!r}" if choices.backends.needs else "False",
    )
