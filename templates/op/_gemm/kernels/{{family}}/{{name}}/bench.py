{% from "_macros/gemm_cases.jinja" import rows, weights with context %}
{% set a, b = inputs[0].name, inputs[1].name %}
{% set m, k = inputs[0].axes %}
{% set n = inputs[1].axes[0] %}
"""Sizes of {{ name }} that users meet: decode steps and prefills against weights of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import torch

from fictl.trace import Case

{{ py("_DTYPES = (", dtypes | map(attribute="name") | map("tojson") | list if dtypes | length > 1 else ['"' ~ dtypes[0].name ~ '",'], ")") }}
{{ rows("_FEW", [1, 17, 100], m) -}}
{{ weights("_SMALL", [[24, 8], [200, 328]], n, k) -}}
{{ rows("_TOKENS", [1, 16, 64, 512, 4096, 8192], m) -}}
{{ weights("_WEIGHTS", [[4096, 4096], [14336, 4096], [8192, 8192]], n, k) }}

def cases() -> Iterator[Case]:
    small, large = product(_FEW, _SMALL, _DTYPES), product(_TOKENS, _WEIGHTS, _DTYPES)
    for m, (n, k), dtype in dict.fromkeys((*small, *large)):
{% set sizes = ['"' ~ m.name ~ '": m', '"' ~ n.name ~ '": n', '"' ~ k.name ~ '": k'] %}
{{ py("        yield Case(", ['"' ~ name ~ '"', "{" ~ sizes | join(", ") ~ "}", "dtype"], ")") }}


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


{{ py("def _torch(", [a ~ ": torch.Tensor", b ~ ": torch.Tensor"], ") -> Callable[[], torch.Tensor]:") }}
    out = {{ a }}.new_empty((len({{ a }}), len({{ b }})))
    return lambda: torch.mm({{ a }}, {{ b }}.T, out=out)
