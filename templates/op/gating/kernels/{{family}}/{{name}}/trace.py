{% from "_macros/matrix_names.jinja" import x, rows, cols, value with context %}
{% set weights, ids = outputs[0].name, outputs[1].name %}
"""Trace of {{ name }}: reference, and judge of what is chosen."""

from __future__ import annotations

{% set typing = ["from collections.abc import Mapping", "from typing import Any"] %}
{{ import_block(["import torch"] + typing) }}

from fictl.trace import Const, Scalar, Tensor, TraceTemplate, Var


def _scores({{ x }}: torch.Tensor, sigmoid: bool) -> torch.Tensor:
    return {{ x }}.sigmoid() if sigmoid else {{ x }}.softmax(dim=-1)


def _choice({{ x }}: torch.Tensor, sigmoid: bool, bias: torch.Tensor | None) -> torch.Tensor:
    """Return what the choice goes by: without a bias the logits, which are in the scores' order."""
    choice = {{ x }} if bias is None else _scores({{ x }}, sigmoid) + bias
    # Why one NaN: CUDA's sort puts a NaN with a sign below all.
    return choice.masked_fill(choice.isnan(), torch.nan)


def _first(values: torch.Tensor) -> torch.Tensor:
    """Return indices by value, the greatest first; of equal ones the first."""
    return values.sort(dim=-1, descending=True, stable=True).indices


def _in_best_groups(
    choice: torch.Tensor, groups: int, top_groups: int, best_of: int
) -> torch.Tensor:
    """Return whether each expert is in a group with one of the greatest sums of its best."""
    by_group = choice.unflatten(-1, (groups, -1))
    best = by_group.sort(dim=-1, descending=True).values[..., :best_of].sum(dim=-1)
    kept = torch.zeros_like(best, dtype=torch.bool)
    kept = kept.scatter(-1, _first(best)[..., :top_groups], value=True)
    return kept.repeat_interleave(by_group.shape[-1], dim=-1)


def _weights(scores: torch.Tensor, renormalize: bool, scale: float) -> torch.Tensor:
    """Make weights of the scores of chosen experts."""
    total = scores.sum(dim=-1, keepdim=True).clamp(min=1e-20)
    return scores * scale / (total if renormalize else 1.0)


{{ py("def _reference(", spelled.reference_parameters + ["bias: torch.Tensor | None"], ") -> tuple[torch.Tensor, torch.Tensor]:") }}
    choice = _choice({{ x }}, sigmoid, bias)
    ids = _first(choice)
    if groups > 1:
        kept = _in_best_groups(choice, groups, top_groups, 1 if bias is None else 2)
        ids = ids.gather(-1, _first(kept.gather(-1, ids).int()))
    ids = ids[..., :top_k]
    return _weights(_scores({{ x }}, sigmoid).gather(-1, ids), renormalize, scale), ids


def _judge(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    """Accept any of the experts whose scores with a bias differ by the rounding of fp32 alone."""
    x, bias, sigmoid = inputs["{{ x }}"].double(), inputs["bias"], inputs["sigmoid"]
    bias = None if bias is None else bias.double()
    _, expected = _reference(**{**inputs, "{{ x }}": x, "bias": bias})
    ids = results["{{ ids }}"].long()
    assert ids.shape == expected.shape, f"{{ ids }} has shape {tuple(ids.shape)}"
    if ids.numel() == 0:
        return
    assert 0 <= int(ids.min()) <= int(ids.max()) < x.shape[-1], "{{ ids }} has what is no expert"
    assert bool((ids.sort(dim=-1).values.diff(dim=-1) > 0).all()), "{{ ids }} has an expert twice"
    choice = _choice(x, sigmoid, bias)
    _assert_near(choice.gather(-1, ids), choice.gather(-1, expected), "{{ ids }}: the scores")
    scores = _scores(x, sigmoid).gather(-1, ids)
    weights = _weights(scores, inputs["renormalize"], inputs["scale"])
    _assert_near(results["{{ weights }}"].double(), weights, "{{ weights }}")


def _assert_near(actual: torch.Tensor, expected: torch.Tensor, what: str) -> None:
    near = torch.isclose(actual, expected, rtol=1e-5, atol=1e-6, equal_nan=True)
    if not bool(near.all()):
        token, place = (~near).nonzero()[0].tolist()
        got, wanted = actual[token, place], expected[token, place]
        raise AssertionError(f"{what} at ({token}, {place}): {got:.9g}, not {wanted:.9g}")


{{ name }} = TraceTemplate(
    axes={
        "{{ rows }}": Var("changes from call to call"),
        "{{ cols }}": Const("fixed by a model", "e"),
        "top_k": Const("experts of a token", "k"),
    },
    inputs={
        "{{ x }}": Tensor(("{{ rows }}", "{{ cols }}")),
        "top_k": Scalar("int32", {{ value.top_k }}),
        "groups": Scalar("int32", {{ value.groups }}),
        "top_groups": Scalar("int32", {{ value.top_groups }}),
        "sigmoid": Scalar("bool", {{ value.sigmoid }}),
        "renormalize": Scalar("bool", {{ value.renormalize }}),
        "scale": Scalar("float32", {{ value.scale }}),
        "bias": Tensor(("{{ cols }}",), dtype="float32", optional=True),
    },
    outputs={
        "{{ weights }}": Tensor(("{{ rows }}", "top_k"), dtype="float32"),
        "{{ ids }}": Tensor(("{{ rows }}", "top_k"), dtype="int32"),
    },
    reference=_reference,
    judge=_judge,
    constraints=("top_k <= {{ cols }}",),
    extremes=("zeros", "small", "large", "nonfinite"),
    description="Choose the experts of every token, and their weights.",
)
