"""Sizes, ages and counts in readable form: '10G', '1.5 MiB', '30d', '2 ops'."""

from __future__ import annotations

import re

from fictl.errors import InvalidValue, shown

_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}

# A longer number is never a plausible count or time.
_AMOUNT = r"([0-9]{1,15}(?:\.[0-9]{1,15})?)"
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,19}(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
MOST_WHOLE = (1 << 63) - 1
LARGEST_SIZE = 1 << 40  # No axis of a tensor that fits into a machine is longer.


def parse_whole(text: str, low: int = 0, high: int = MOST_WHOLE) -> int:
    """Parse a whole number in a range; unlike int(), accept only ASCII digits without '_'."""
    value = int(text) if _WHOLE.fullmatch(text) else None
    if value is None or not low <= value <= high:
        raise InvalidValue(f"{_quoted(text)} is not a whole number from {low} to {high}")
    return value


def parse_number(text: str, low: float, high: float) -> float:
    """Parse a finite number in a range; unlike float(), refuse 'nan', 'inf' and '1e999'."""
    value = float(text) if _NUMBER.fullmatch(text) else None
    if value is None or not low <= value <= high:
        raise InvalidValue(f"{_quoted(text)} is not a number from {low:g} to {high:g}")
    return value


def parse_size(text: str) -> int:
    """Parse a size to bytes; K, M, G and T are powers of 1024."""
    match = re.fullmatch(rf"{_AMOUNT}\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if not match:
        raise InvalidValue(f"{_quoted(text)} is not a size", "write it as in '500M' or '10G'")
    return int(float(match[1]) * _SIZES[match[2]])


def parse_age(text: str) -> float:
    """Parse an age to seconds."""
    match = re.fullmatch(rf"{_AMOUNT}\s*([smhdw])", text.strip().lower())
    if not match:
        raise InvalidValue(f"{_quoted(text)} is not an age", "write it as in '12h', '30d' or '2w'")
    return float(match[1]) * _AGES[match[2]]


def _quoted(text: str) -> str:
    return f"'{shown(text)}'"


def spell_size(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def spell_age(seconds: float) -> str:
    """Format an age in the largest unit that fits; never negative if the clock was set back."""
    seconds = max(0.0, seconds)
    for unit in ("w", "d", "h", "m"):
        if seconds >= _AGES[unit]:
            return f"{seconds / _AGES[unit]:.0f} {unit}"
    return f"{seconds:.0f} s"


def spell_time(seconds: float) -> str:
    """Format a duration with three or four digits, as in '2.55 us' or '65.1 us'."""
    for unit, scale in (("us", 1e-6), ("ms", 1e-3)):
        value = seconds / scale
        if value < 1000:
            return f"{value:.2f} {unit}" if value < 10 else f"{value:.1f} {unit}"
    return f"{seconds:.2f} s"


def counted(number: int, what: str) -> str:
    """Format a count with its noun `what` in the singular: '1 op', '2 ops'."""
    return f"{number} {what}{'s' * (number != 1)}"
