"""Number options: each says its range, and takes nothing but ASCII digits within it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import typer

from fictl.errors import InvalidValue
from fictl.quantity import MOST_WHOLE, parse_number, parse_whole

# A process that is given longer than a day is not watched by anybody.
DAY = 86400.0


@dataclass(frozen=True)
class Range:
    """Both ends are in it; `whole` refuses fractions."""

    low: float
    high: float
    whole: bool
    __name__ = "number"  # Typer asks a parser for its name.

    def __call__(self, value: Any) -> Any:
        """Defaults come here too, as numbers."""
        try:
            if self.whole:
                return parse_whole(str(value), int(self.low), int(self.high))
            return parse_number(str(value), self.low, self.high)
        except InvalidValue as error:
            raise typer.BadParameter(error.message) from None

    def __str__(self) -> str:
        return f"{self.low:.15g}..{self.high:.15g}"


def whole(*names: str, low: int, high: int, **more: Any) -> Any:
    """An option that is a whole number."""
    return _option(Range(low, high, True), *names, **more)


def number(*names: str, low: float, high: float, **more: Any) -> Any:
    """An option that is a number with or without a fraction."""
    return _option(Range(low, high, False), *names, **more)


def seconds(*names: str, **more: Any) -> Any:
    """An option that is a time after which something is given up."""
    return number(*names, low=0.1, high=DAY, **more)


def _option(range_: Range, *names: str, **more: Any) -> Any:
    metavar = str(range_) if range_.high < MOST_WHOLE else "N"
    return typer.Option(*names, parser=range_, metavar=metavar, **more)
