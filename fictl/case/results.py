"""Which output each of a call's results is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any


def named_results(
    outputs: Sequence[str], inputs: Collection[str], arguments: Mapping[str, Any], returned: Any
) -> dict[str, Any]:
    """By output. `inputs` are the parameters that the call reads.

    What was given to be written counts, not what is returned in its place. A function may return
    all its results, or those alone that it was not given as inputs.
    """
    given = {name: arguments[name] for name in outputs if arguments.get(name) is not None}
    if returned is None:
        lost = [name for name in outputs if name not in given]
        assert not lost, f"returned nothing, and has no argument {', '.join(lost)} to write"
        return given
    values = returned if isinstance(returned, tuple) else (returned,)
    made = [name for name in outputs if name not in inputs]
    names = made if len(values) == len(made) else outputs
    assert len(values) == len(names), (
        f"returned {len(values)} values, the trace has the outputs {', '.join(outputs)}"
    )
    return {**dict(zip(names, values, strict=True)), **given}


def as_tuple(returned: Any) -> tuple[Any, ...]:
    """Results of a call, one or several, as a tuple."""
    return tuple(returned) if isinstance(returned, tuple | list) else (returned,)
