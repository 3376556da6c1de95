"""Wrappers that choose a tactic and call the public function, with its signature."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fictl.op.declared import Op
from fictl.op.tactics.tactics import Tactics
from fictl.op.wrapper import compiled, plain_parameters

try:
    from torch.compiler import is_dynamo_compiling
except ImportError:
    from fictl.op.ffi.direct import is_dynamo_compiling

# A call that names its tactic gets it; without any tuned tactic the lookup is skipped. Dynamo
# would guard the values read here, and recompile when they change.
_LOOKED_UP = """\
def {name}({signature}):
    if tactic is None:
        if _is_traced():
            tactic = _tactics.while_traced({own})
        else:
            tactic = _tactics.untuned
            if tactic is None:
                try:
                    tactic = _remembered.get(_keys.of({own}))
                except _no_key:
                    tactic = None
                if tactic is None:
                    tactic = _tactics.make({own})
    return _function({passed})
"""


def tuned(
    function: Callable[..., Any], op: Op, candidates: Callable[..., Iterable[Any]]
) -> Callable[..., Any]:
    """Wrap `function`, which gets the chosen tactic instead of None."""
    tactics = Tactics(op, function, plain_parameters(function), candidates)
    outside = {
        "_tactics": tactics,
        "_remembered": tactics.remembered,
        "_keys": tactics.keys,
        "_no_key": tactics.keys.none,
        "_is_traced": is_dynamo_compiling,
    }
    wrapper = compiled(_LOOKED_UP, function, outside, {}, own=", ".join(tactics.names))
    wrapper.tactics = tactics  # type: ignore[attr-defined]
    return wrapper
