{% set sizes = [] %}
{% set varied = axes | rejectattr("size") | map(attribute="name") | list %}
{% set first = (roles.rows | select("in", varied) | list + [""])[0] %}
{% set last = roles.cols[0] if roles.cols[0] in varied else "" %}
{% for axis in varied %}
{% set _ = sizes.append('"' ~ axis ~ '": ' ~ {first: "rows", last: "cols"}.get(axis, "2")) %}
{% endfor %}
"""Sizes of {{ name }} that users meet: a decode step, a prefill, one that fills the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from .jit import AOT_COLS, TYPES
from .trace import {{ name }}


def cases() -> Iterator[Case]:
    for dtype in TYPES:
        for rows in (1, 37):
            yield _case(rows, AOT_COLS[0], dtype)
        for rows in (128 * 40, 1 << 19):
            for cols in AOT_COLS:
                yield _case(rows, cols, dtype)


def _case(rows: int, cols: int, dtype: torch.dtype) -> Case:
    sizes = {{ "{" ~ sizes | join(", ") ~ "}" }}
    return Case("{{ name }}", sizes, str(dtype).removeprefix("torch."))


def baselines() -> dict[str, Callable[..., Any]]:
{{ py_literal("    return {", ['"torch": ' ~ name ~ ".reference", '"inductor": compiled(' ~ name ~ ".reference)"], "}") }}
