"""Values of `--axis n=1:65536:*2`: the sizes that replace an axis of the cases."""

from __future__ import annotations

import re

from fictl.errors import InvalidValue
from fictl.quantity import LARGEST_SIZE, parse_whole

_RANGE = re.compile(r"([0-9]+):([0-9]+)(?::(\*?)([0-9]+))?")
_MOST = 1000


def parse_axis(text: str) -> tuple[str, tuple[int, ...]]:
    """Parse `n=1,2,4`, `n=8:64:8` or `n=1:65536:*2`; the end is included if a step meets it."""
    name, equals, sizes = text.partition("=")
    if not (equals and name.strip().isidentifier()):
        raise InvalidValue(f"{text!r} is not an axis", _AS_IN)
    parts = [part.strip() for part in sizes.split(",")]
    return name.strip(), tuple(dict.fromkeys(size for part in parts for size in _sizes(part, text)))


_AS_IN = "as in n=1,2,4 or n=8:64:8 or n=1:65536:*2"


def _sizes(part: str, text: str) -> list[int]:
    if re.fullmatch(r"[0-9]+", part):
        return [parse_whole(part, 0, LARGEST_SIZE)]
    match = _RANGE.fullmatch(part)
    if not match:
        raise InvalidValue(f"{text!r}: {part!r} is neither a size nor a range", _AS_IN)
    first, last, step = (parse_whole(text or "1", 0, LARGEST_SIZE) for text in match.group(1, 2, 4))
    factor = bool(match[3])
    if last < first or (step < 2 and (factor or not step)) or (factor and not first):
        raise InvalidValue(f"{text!r}: {part!r} never ends, or never begins", _AS_IN)
    sizes = [first]
    while (size := sizes[-1] * step if factor else sizes[-1] + step) <= last:
        if len(sizes) == _MOST:
            raise InvalidValue(f"{text!r} has more than {_MOST} sizes", "take larger steps")
        sizes.append(size)
    return sizes
