{% from "_macros/draw_views.jinja" import draws with context %}
{% set sizes = ['"' ~ draws ~ '": rows', '"' ~ roles.rows[0] ~ '": rows'] %}
{% set only = (axes | selectattr("name", "equalto", roles.cols[0]) | first).size %}
{% if not only %}
{% set _ = sizes.append('"' ~ roles.cols[0] ~ '": cols') %}
{% endif %}
{% set each = "rows, " ~ ("_" if only else "cols") %}
{% set case = 'Case("' ~ name ~ '", {' ~ sizes | join(", ") ~ "}, " %}
{% set names = dtypes | map(attribute="name") | list %}
"""Sizes of {{ name }} that users meet: vocabularies of models, one row and many, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import {{ name }}

_SMALL = ((1, 1), (3, 111), (5, 520), (2, 4099))
_LARGE = ((1, 128256), (8, 128256), (64, 32003), (64, 128256), (256, 151936))


def cases() -> Iterator[Case]:
    for {{ each }} in _SMALL:
{{ py("        for dtype in (", names | map("tojson") | list + ([""] if names | length == 1 else []), "):") | replace(", )", ",)") }}
            yield {{ case }}dtype)
    for {{ each }} in _LARGE:
        yield {{ case }}"{{ "float32" if "float32" in names else names[0] }}")


def baselines() -> dict[str, Callable[..., Any]]:
{% set line = '    return {"torch": ' ~ name ~ '.reference, "inductor": compiled(' ~ name ~ ".reference)}" %}
{% if line | length <= 100 %}
{{ line }}
{% else %}
    return {
        "torch": {{ name }}.reference,
        "inductor": compiled({{ name }}.reference),
    }
{% endif %}
