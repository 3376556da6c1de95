{% from "_macros/row_names.jinja" import out, names, rows with context %}
{% from "_macros/draw_views.jinja" import draws with context %}
{% set first = rows[0] %}
{% set arguments = spelled.arguments | join(", ") %}
"""Trace of {{ name }}: reference, and judge of its draws."""

from __future__ import annotations

{{ import_block(["from collections.abc import Mapping", "from typing import Any", "import torch"] + (reference.imports | list if reference else [])) }}

from fictl.trace import {{ (spelled.trace_names + ["Scalar", "Var"]) | unique | sort | join(", ") }}


{% if reference %}
{{ reference.source | replace("_reference(", "_weights(") }}
{% else %}
{{ py("def _weights(", spelled.reference_parameters, ") -> torch.Tensor:") }}
{{ py_value("    return ", reference_code) }}
{% endif %}


def _of_draws(weights: torch.Tensor, indices: torch.Tensor | None) -> torch.Tensor:
    """Return a row of weights for each token drawn; those not above 0 are not weights."""
    weights = torch.where(weights > 0, weights, 0)
    return weights if indices is None else weights[indices.long()]


{{ py("def _reference(", spelled.reference_parameters + ["indices: torch.Tensor | None", "seed: int", "offset: int"], ") -> torch.Tensor:") }}
    """Draw one of the possible tokens: the first of exponential clocks with the weights as rates."""
    weights = _of_draws(_weights({{ arguments }}), indices)
    return (weights / torch.empty_like(weights).exponential_()).argmax(dim=-1).to(torch.int32)


def _judge(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Accept any token that has a weight; the tests count how often each is drawn."""
{% set given = [] %}
{% for each in inputs %}
{% set _ = given.append('inputs["' ~ each.name ~ '"].float()') %}
{% endfor %}
{% for each in scalars %}
{% set _ = given.append('inputs["' ~ each.name ~ '"]') %}
{% endfor %}
{{ py("    weights = _weights(", given, ")") }}
    weights = _of_draws(weights, inputs["indices"])
    tokens = results["{{ out }}"].long()
    inside = (tokens >= 0) & (tokens < weights.shape[-1])
    weight = weights.gather(-1, (tokens * inside)[:, None])[:, 0]
    right = inside & torch.where((weights > 0).any(dim=-1), weight > 0, tokens == 0)
    wrong = tokens[~right].tolist()
    assert not wrong, f"{{ out }} has {len(wrong)} tokens without a weight, as {wrong[0]}"


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make probabilities, some of them 0; rows in random order."""
    shape = (sizes["{{ roles.rows[0] }}"], sizes["{{ roles.cols[0] }}"])
    logits = 3 * torch.randn(shape, device=device, generator=generator)
    probs = logits.where(logits > 0, -torch.inf).softmax(dim=-1).nan_to_num(nan=0.0)
    most, count = max(shape[0], 1), sizes["{{ draws }}"]
    indices = torch.randint(most, (count,), device=device, generator=generator)
    return {"{{ first }}": probs.to(dtype), "indices": indices.to(torch.int32)}


{% set rows_axis = '"' ~ draws ~ '": Var("tokens drawn: one of each row, or of each of indices")' %}
{{ name }} = TraceTemplate(
{{ py_literal("    axes={", [rows_axis] + spelled.traced_axes, "},") }}
{{ py_literal("    inputs={", spelled.traced_inputs + ['"indices": Tensor(("' ~ draws ~ '",), dtype="int32", optional=True)', '"seed": Scalar("int64", 42)', '"offset": Scalar("int64", 0)'], "},") }}
    outputs={"{{ out }}": Tensor(("{{ draws }}",), dtype="int32")},
    reference=_reference,
    judge=_judge,
    init=_init,
    description="{{ description }}",
)
