{% from "_macros/matrix_names.jinja" import x, rows, cols, decorator with context %}
{% set weights, ids = outputs[0].name, outputs[1].name %}
"""{{ name }}: routing of a mixture of experts."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


{{ decorator() }}
{{ py("def " ~ name ~ "(", spelled.parameters[:-2] + ["bias: torch.Tensor | None = None"] + spelled.parameters[-2:], ") -> tuple[torch.Tensor, torch.Tensor]:") }}
    """Choose the experts of every token, the best first, and their weights.

    Scores are the softmax of a token's logits, or their sigmoid. The top_k greatest are chosen; of
    equal ones the first, and NaN before all. What they become as weights is computed in fp32.

    {{ x }}: ({{ rows }}, {{ cols }}), up to 1024 {{ cols }}; last dimension contiguous, all rows at one stride.
    top_k: number of experts, up to 32.
    groups, top_groups: adjacent experts in so many equal groups, up to 32, of which only the best
        top_groups are chosen from: those with the best expert or, with a bias, with the greatest
        sum of their best two.
    sigmoid: scores are sigmoids.
    renormalize: divide the weights of a token by their sum.
    scale: factor of all weights.
    bias: ({{ cols }},), float32: added to the scores for the choice alone, not in the weights.
    {{ weights }}: ({{ rows }}, top_k), float32, contiguous. None allocates it.
    {{ ids }}: ({{ rows }}, top_k), int32, contiguous. None allocates it.
    """
    shape = (*{{ x }}.shape[:-1], max(top_k, 0))
    if {{ weights }} is None:
        {{ weights }} = {{ x }}.new_empty(shape, dtype=torch.float32)
    if {{ ids }} is None:
        {{ ids }} = {{ x }}.new_empty(shape, dtype=torch.int32)
{{ py("    kernel." ~ name ~ "(", spelled.passed + ["bias"], ")") }}
    return {{ weights }}, {{ ids }}
