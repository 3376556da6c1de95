"""Sizes of {{ name }} that {{ defined.definition.name }} allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import {{ name }}

{% set texts = [] %}
{% for sizes in defined_cases %}
{% set items = [] %}
{% for axis, size in sizes.items() %}
{% set _ = items.append((axis | tojson) ~ ": " ~ size) %}
{% endfor %}
{% set _ = texts.append("{" ~ items | join(", ") ~ "}") %}
{% endfor %}
{{ py_literal("_SIZES: tuple[dict[str, int], ...] = (", texts, ")") }}


def cases() -> Iterator[Case]:
    for sizes in _SIZES:
{{ py("        for dtype in (", dtypes | map(attribute="name") | map("tojson") | list + ([""] if dtypes | length == 1 else []), "):") | replace(", )", ",)") }}
            yield Case("{{ name }}", sizes, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": {{ name }}.reference, "inductor": compiled({{ name }}.reference)}
