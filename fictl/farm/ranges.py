"""Ranges in the words of a place: `gpu{0..3}` stands for gpu0, gpu1, gpu2 and gpu3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from fictl.errors import InvalidValue

_RANGE = re.compile(r"\{(\d{1,9})\.\.(\d{1,9})\}")
_MOST = 10_000


def expanded(document: Any) -> Iterator[Any]:
    """Yield the document for each value of its ranges. Equal ranges have equal values: in
    `{"name": "h{0..1}", "gpu": "{0..1}"}`, h0 has gpu 0. Different ones are combined.
    """
    ranges = [*dict.fromkeys(_RANGE.findall(str(document)))]
    values = [_values(first, last) for first, last in ranges]
    count = 1
    for each_range in values:
        count *= len(each_range)
    if count > _MOST:
        raise InvalidValue(f"the ranges stand for {count} places", f"at most {_MOST}")
    for chosen in product(*values):
        yield _filled(document, dict(zip(ranges, chosen, strict=True)))


def _values(first: str, last: str) -> list[str]:
    low, high = int(first), int(last)
    if high < low or high - low >= _MOST:
        raise InvalidValue(f"{{{first}..{last}}} is not a range", "as in {0..3}")
    width = len(first) if first.startswith("0") else 1
    return [f"{number:0{width}}" for number in range(low, high + 1)]


def _filled(document: Any, values: dict[tuple[str, str], str]) -> Any:
    if isinstance(document, str):
        return _RANGE.sub(lambda match: values[match[1], match[2]], document)
    if isinstance(document, dict):
        return {name: _filled(value, values) for name, value in document.items()}
    if isinstance(document, list | tuple):
        return [_filled(value, values) for value in document]
    return document
