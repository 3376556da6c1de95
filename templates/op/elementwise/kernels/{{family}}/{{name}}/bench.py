"""Sizes of {{ name }} that users meet: a decode step, a prefill, one that fills the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fictl.bench import compiled
from fictl.trace import Case

from .trace import {{ name }}

{% set first, rest = axes[0], axes[1:] %}

def cases() -> Iterator[Case]:
{% if rest %}
    for {{ first.name }} in (1, 64, 4096, 16384):
{% else %}
    for {{ first.name }} in (128, 64 * 4096, 4096 * 4096, 16384 * 8192):
{% endif %}
{{ py_literal("        for dtype in (", dtypes | map(attribute="name") | map("tojson") | list, "):") }}
{% set sizes = ['"' ~ first.name ~ '": ' ~ first.name] %}
{% for axis in rest if not axis.size %}
{% set _ = sizes.append('"' ~ axis.name ~ '": ' ~ (4096 if loop.last else 8)) %}
{% endfor %}
{{ py("            yield Case(", ['"' ~ name ~ '"', "{" ~ sizes | join(", ") ~ "}", "dtype"], ")") }}


def baselines() -> dict[str, Callable[..., Any]]:
{{ py_literal("    return {", ['"torch": ' ~ name ~ ".reference", '"inductor": compiled(' ~ name ~ ".reference)"], "}") }}
