"""Arguments of a call by position, given by position or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def merged(
    of: str, names: Sequence[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Arguments in the order of `names`; the last may be missing. In-place outputs appear twice."""
    if len(args) > len(names):
        raise TypeError(f"{of} takes at most {len(names)} arguments, {len(args)} given")
    if strange := sorted({*kwargs} - {*names}):
        raise TypeError(f"{of} has no {', '.join(strange)}; it has {', '.join(names)}")
    rest = names[len(args) :]
    if twice := [name for name in names[: len(args)] if name in kwargs and name not in rest]:
        raise TypeError(f"{', '.join(twice)} of {of} given twice")
    given = next((i for i, name in enumerate(rest) if name not in kwargs), len(rest))
    if left_over := {*kwargs} - {*rest[:given]}:
        raise TypeError(f"{of}: {rest[given]} is missing before {min(left_over)}")
    return (*args, *(kwargs[name] for name in rest[:given]))
