{% set q, k, v, out = inputs[0].name, inputs[1].name, inputs[2].name, outputs[0].name %}
"""{{ name }}: {{ (description[:1] | lower) ~ description[1:] }}"""

from __future__ import annotations

from functools import lru_cache

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


{% set last = spelled.parameters | length - 1 %}
{{ py("@op(", ['archs="' ~ archs ~ '"', 'dtypes="' ~ dtypes | map(attribute="short") | join(" ") ~ '"', 'devices="' ~ devices ~ '"', 'mutates="' ~ out ~ '"'], ")") }}
{{ py("def " ~ name ~ "(", spelled.parameters[:last] + ["causal: bool = False", "sm_scale: float | None = None"] + spelled.parameters[last:], ") -> torch.Tensor:") }}
{% if expression.is_mask %}
    """{{ ("softmax(" ~ q ~ " @ " ~ k ~ ".T * sm_scale) @ " ~ v ~ ", over the keys where " ~ expression ~ ".") | wordwrap(93, false, "\n    ") }}

    Of a query that sees no key it is 0.
{% else %}
    """{{ ("softmax(" ~ expression ~ ") @ " ~ v ~ ", where logit is " ~ q ~ " @ " ~ k ~ ".T * sm_scale.") | wordwrap(93, false, "\n    ") }}
{% endif %}

{% if expression.places %}
    q_idx and kv_idx are token indices. The queries are at the end of the keys: the position of a
    query is kv_len - q_len + q_idx.

{% endif %}
    {{ q }}: ({{ inputs[0].axis_names | join(", ") }}); {{ roles.head_dim[0] }} is a multiple of 8 up to 256. Last dimension
        contiguous, strides of heads and tokens multiples of 16 bytes.
    {{ k }}, {{ v }}: ({{ inputs[1].axis_names | join(", ") }}), of {{ q }}'s dtype; each head serves a group of {{ q }}'s.
{% for each in scalars %}
    {{ each.name }}: {{ {"float": "a number", "int": "a whole number", "bool": "True or False"}[each.type] }}.
{% endfor %}
    causal: a query sees no keys after its own position.
    sm_scale: factor of {{ q }} @ {{ k }}.T. None is 1 / sqrt({{ roles.head_dim[0] }}).
    {{ out }}: like {{ q }}, contiguous. None allocates it.
    """
{{ py("    _check(", [q, k], ")") }}
    if {{ out }} is None:
        {{ out }} = {{ q }}.new_empty({{ q }}.shape)
    (q_len, heads, head_dim), (kv_len, kv_heads, _) = {{ q }}.shape, {{ k }}.shape
    group = heads // kv_heads
    rows = 16 if q_len * group <= 16 else 64 if head_dim > 128 else 128
    work = _work(q_len, kv_len, group, rows, causal, {{ q }}.device)
    scale = head_dim**-0.5 if sm_scale is None else sm_scale
    built = kernel[{{ q }}.dtype, head_dim, rows]
{{ py("    built." ~ name ~ "(", spelled.passed + ["work", "causal", "scale"], ")") }}
    return {{ out }}


def _check({{ q }}: torch.Tensor, {{ k }}: torch.Tensor) -> None:
    """Check the shapes that the plan depends on."""
    for name, x in (("{{ q }}", {{ q }}), ("{{ k }}", {{ k }})):
        if x.ndim != 3:
            raise ValueError(
                f"{{ name }}: argument '{name}' has shape {tuple(x.shape)}; "
                "it is (tokens, heads, {{ roles.head_dim[0] }})"
            )
    heads, kv_heads = {{ q }}.shape[1], {{ k }}.shape[1]
    if {{ q }}.shape[2] != {{ k }}.shape[2] or not kv_heads or heads % kv_heads:
        raise ValueError(
            f"{{ name }}: argument '{{ k }}' has shape {tuple({{ k }}.shape)}, '{{ q }}' {tuple({{ q }}.shape)}; "
            "heads must have one size, and {{ q }} a multiple of {{ k }}'s number of heads"
        )


@lru_cache(maxsize=256)
def _work(
    q_len: int, kv_len: int, group: int, rows: int, causal: bool, device: torch.device
) -> torch.Tensor:
    """Make a line for each tile of `rows`: its first row, and its keys from `begin` to `end`.

    The last tile comes first: it has the most keys to go through if causal. Why kept: while a CUDA
    graph is captured, nothing may be copied from the host.
    """
    row = torch.arange(0, q_len * group, rows, dtype=torch.int32).flip(0)
    begin, end = torch.zeros_like(row), torch.full_like(row, kv_len)
    if causal:
        last_query = (row + rows - 1) // group
        end = (kv_len - q_len + last_query + 1).clamp(0, kv_len)
    none, whole = torch.zeros_like(row), torch.full_like(row, -1)
    queries, keys = torch.full_like(row, q_len), torch.full_like(row, kv_len)
    # As <fictl/attention/work.cuh> has it: request, row, q_start, q_len, kv_start, kv_len, begin,
    # end, partial, mask, and what fills the line.
    columns = (none, row, none, queries, none, keys, begin, end, whole, none, none, none)
    return torch.stack(columns, 1).to(device)
