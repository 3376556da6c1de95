"""Tactics and keys of calls as text, for files and people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fictl.errors import UsageError

_PLAIN = bool | int | float | str


def spelled(tactic: Any) -> Any:
    """Convert a tactic for JSON: a named tuple or a dict of small values, or one such value."""
    if hasattr(tactic, "_asdict"):
        tactic = tactic._asdict()
    if isinstance(tactic, Mapping) and all(isinstance(value, _PLAIN) for value in tactic.values()):
        return {str(name): value for name, value in tactic.items()}
    if isinstance(tactic, _PLAIN):
        return tactic
    raise UsageError(
        f"{tactic!r} is not a tactic",
        "a tactic is a named tuple or a dict of numbers, texts and booleans, or one of these",
    )


def label(plain: Any) -> str:
    """Format a result of `spelled`: `tile=128 stages=3`."""
    if isinstance(plain, Mapping):
        return " ".join(f"{name}={value}" for name, value in plain.items())
    return str(plain)


def key_text(labels: Iterable[str], values: Iterable[Any]) -> str:
    """Format `input=bfloat16 dim=4096 rows<=16384`; values of `<=` labels are log2 of buckets."""
    return " ".join(_word(name, value) for name, value in zip(labels, values, strict=True) if name)


def _word(name: str, value: Any) -> str:
    if name.endswith("<=") and isinstance(value, int):
        return f"{name}{1 << value}"
    return f"{name.removesuffix('<=')}={str(value).removeprefix('torch.')}"
