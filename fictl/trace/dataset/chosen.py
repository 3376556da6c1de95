"""Selection by names and patterns; a name that matches nothing is an error."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase

from fictl.errors import UsageError

_MOST_SHOWN = 8


def is_chosen(name: str, patterns: Collection[str]) -> bool:
    """Tell whether a name matches a pattern such as 'gemm_*'. Without patterns, every name does."""
    return not patterns or any(_fits(name, pattern) for pattern in patterns)


def require_known(patterns: Iterable[str], names: Iterable[str], what: str) -> None:
    """Raise UsageError, with the nearest names, for a pattern that matches nothing."""
    known = sorted({*names})
    for pattern in patterns:
        if not any(_fits(name, pattern) for name in known):
            raise UsageError(f"there is no {what} {pattern!r}", nearest(pattern, known))


def nearest(name: str, known: Collection[str]) -> str:
    """A hint with names that may have been meant, or with the names there are."""
    near = get_close_matches(name, known, 3)
    if near:
        return f"is it {' or '.join(near)}?"
    if not known:
        return "there are none"
    more = f" and {len(known) - _MOST_SHOWN} more" if len(known) > _MOST_SHOWN else ""
    return f"there are {', '.join([*known][:_MOST_SHOWN])}{more}"


def _fits(name: str, pattern: str) -> bool:
    """Compare literally first: a name may contain brackets."""
    return name == pattern or fnmatchcase(name, pattern)
