{% set q, k, v, out = inputs[0].name, inputs[1].name, inputs[2].name, outputs[0].name %}
{% set fixed = (axes | selectattr("name", "in", roles.head_dim) | first).size %}
{% set names = dtypes | map(attribute="name") | list %}
"""Sizes of {{ name }} that users meet: prompts, and a few queries of a long context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

{% if expression.is_mask %}
import torch

{% endif %}
from fictl.bench import compiled
from fictl.trace import Case

from .trace import {{ "_seen, " if expression.is_mask }}{{ name }}

# Queries, keys, heads of queries, heads of keys.
_SMALL = ((3, 70, 4, 2), (37, 50, 6, 2))
_LARGE = ((1024, 1024, 32, 8), (4096, 4096, 32, 8), (16, 8192, 32, 8))


def cases() -> Iterator[Case]:
{% if names | length > 1 %}
    for sizes, dtype in zip(_SMALL, ({{ names[:2] | map("tojson") | join(", ") }}), strict=True):
        yield _case(sizes, {{ fixed or 64 }}, dtype)
{% else %}
    for sizes in _SMALL:
        yield _case(sizes, {{ fixed or 64 }}, "{{ names[0] }}")
{% endif %}
    for sizes in _LARGE:
        yield _case(sizes, {{ fixed or 128 }}, "{{ names[-1] }}")


def _case(sizes: tuple[int, ...], head_dim: int, dtype: str) -> Case:
    axes = ("{{ roles.q_len[0] }}", "{{ roles.kv_len[0] }}", "{{ roles.heads[0] }}", "{{ roles.kv_heads[0] }}")
    of_axes = dict(zip(axes, sizes, strict=True))
    return Case("{{ name }}", {**of_axes, "{{ roles.head_dim[0] }}": head_dim}, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
{% if expression.is_mask %}
{{ py_literal("    return {", ['"torch": ' ~ name ~ ".reference", '"inductor": compiled(' ~ name ~ ".reference)", '"sdpa": _sdpa'], "}") }}


{{ py("def _sdpa(", spelled.reference_parameters + ["causal: bool"], ") -> Callable[[], torch.Tensor]:") }}
    """Compute with the mask as a tensor, made before."""
    seen = _seen({{ ([q, k] + (scalars | map(attribute="name") | list) + ["causal"]) | join(", ") }})
    heads_first = [x.transpose(0, 1)[None] for x in ({{ q }}, {{ k }}, {{ v }})]
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(*heads_first, attn_mask=seen, enable_gqa=True)[0].transpose(0, 1)
{% else %}
{{ py_literal("    return {", ['"torch": ' ~ name ~ ".reference", '"inductor": compiled(' ~ name ~ ".reference)"], "}") }}
{% endif %}
