{% set sizes = [] %}
{% set varied = axes | rejectattr("size") | map(attribute="name") | list %}
{% set first = (roles.rows | select("in", varied) | list + [""])[0] %}
{% set last = roles.cols[0] if roles.cols[0] in varied else "" %}
{% for axis in varied %}
{% set _ = sizes.append('"' ~ axis ~ '": ' ~ {first: "rows", last: "cols"}.get(axis, "2")) %}
{% endfor %}
{% set each = ("rows" if first else "_") ~ ", " ~ ("cols" if last else "_") %}
{% set case = 'Case("' ~ name ~ '", {' ~ sizes | join(", ") ~ "}, " %}
"""Sizes of {{ name }} that users meet: few rows and many, short ones and long, and odd sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import {{ name }}

_SMALL = {{ small | default("((1, 8), (3, 64), (5, 111), (9, 128), (4, 1000), (2, 4098))") }}
_LARGE = ((16, 4096), (128, 8192), (184320, 128), (16384, 4096), (8192, 8192), (512, 131072))


def cases() -> Iterator[Case]:
    for {{ each }} in _SMALL:
{{ py("        for dtype in (", dtypes | map(attribute="name") | map("tojson") | list + ([""] if dtypes | length == 1 else []), "):") | replace(", )", ",)") }}
            yield {{ case }}dtype)
    for {{ each }} in _LARGE:
        yield {{ case }}"{{ dtypes[1 if dtypes | length > 1 else 0].name }}")


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
