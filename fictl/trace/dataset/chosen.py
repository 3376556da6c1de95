"""Choosing by names and patterns; a name that nothing has is no empty choice, but a mistake."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase

from fictl.errors import UsageError

_MOST_SHOWN = 8


def is_chosen(name: str, patterns: Collection[str]) -> bool:
    """Patterns are names, or as in 'gemm_*'. No pattern chooses all."""
    return not patterns or any(_fits(name, pattern) for pattern in patterns)


def require_known(patterns: Iterable[str], names: Iterable[str], what: str) -> None:
    """Each of them chooses something; else the nearest names are told."""
    known = sorted({*names})
    for pattern in patterns:
        if not any(_fits(name, pattern) for name in known):
            raise UsageError(f"there is no {what} {pattern!r}", nearest(pattern, known))


def nearest(name: str, known: Collection[str]) -> str:
    """A hint: what may have been meant, or what there is."""
    near = get_close_matches(name, known, 3)
    if near:
        return f"is it {' or '.join(near)}?"
    if not known:
        return "there are none"
    more = f" and {len(known) - _MOST_SHOWN} more" if len(known) > _MOST_SHOWN else ""
    return f"there are {', '.join([*known][:_MOST_SHOWN])}{more}"


def _fits(name: str, pattern: str) -> bool:
    """A name may have brackets of its own."""
    return name == pattern or fnmatchcase(name, pattern)
