"""Options that are a share: `1%` or 0.01."""

from __future__ import annotations

from fictl.errors import InvalidValue
from fictl.quantity import parse_number


def share(option: str, text: str) -> float:
    """Parse a share above 0 and below 1."""
    number = text.strip().removesuffix("%")
    try:
        value = parse_number(number.strip(), 0, 100) / (100 if "%" in text else 1)
    except InvalidValue:
        value = 0.0
    if not 0 < value < 1:
        raise InvalidValue(f"{option} {text!r} is not a share", "as in '1%' or 0.01")
    return value
