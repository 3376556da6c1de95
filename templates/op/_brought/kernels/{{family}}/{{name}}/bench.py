"""Sizes of {{ name }} that users meet: a decode step, a prefill, one that fills the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import {{ name }}

{% set free = axes | rejectattr("size") | rejectattr("text") | list %}
{% set first, rest = (free | first | default(none)), free[1:] %}

def cases() -> Iterator[Case]:
{% if not first %}
    for dtype in ({{ dtypes | map(attribute="name") | map("tojson") | join(", ") }}{{ "," if dtypes | length == 1 }}):
        yield Case("{{ name }}", {}, dtype)
{% else %}
{% if rest %}
    for {{ first.name }} in (1, 64, 4096, 16384):
{% else %}
    for {{ first.name }} in (128, 64 * 4096, 4096 * 4096, 16384 * 8192):
{% endif %}
        for dtype in ({{ dtypes | map(attribute="name") | map("tojson") | join(", ") }}{{ "," if dtypes | length == 1 }}):
{% set items = ['"' ~ first.name ~ '": ' ~ first.name] %}
{% for axis in rest %}
{% set _ = items.append('"' ~ axis.name ~ '": ' ~ ((256 if untied else 4096) if loop.last else 8)) %}
{% endfor %}
{{ py("            yield Case(", ['"' ~ name ~ '"', "{" ~ items | join(", ") ~ "}", "dtype"], ")") }}
{% endif %}


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": {{ name }}.reference, "inductor": compiled({{ name }}.reference)}
