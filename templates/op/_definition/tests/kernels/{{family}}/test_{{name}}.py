"""What the trace of {{ name }} cannot say: a given output, and refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

{% set op = package ~ "." ~ family ~ "." ~ name %}
{% set ours = ["from fictl.testing import assert_close, make_inputs", "from " ~ op ~ ".op import " ~ name, "from " ~ op ~ ".trace import " ~ name ~ " as trace"] %}
{{ import_block(ours) }}

{% set items = [] %}
{% for axis, size in defined_cases[0].items() %}
{% set _ = items.append((axis | tojson) ~ ": " ~ size) %}
{% endfor %}
{{ py_literal("SIZES: dict[str, int] = {", items, "}") }}
DTYPE = "{{ dtypes[0].name }}"
{% set out = outputs[0].name %}


def _inputs(device: str) -> dict[str, Any]:
    return make_inputs(trace, SIZES, DTYPE, device)


def _exact(inputs: dict[str, Any]) -> dict[str, Any]:
    """In fp64, for the reference."""
    return {
        name: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x
        for name, x in inputs.items()
    }


def test_{{ out }}_is_returned(device: str) -> None:
    inputs = _inputs(device)
{% if outputs | length == 1 %}
    given = {{ name }}(**inputs)
    assert {{ name }}(**inputs, {{ out }}=given) is given
    assert_close(given, trace.reference(**_exact(inputs)), "{{ out }}", trace.tolerances)
{% else %}
    given = {{ name }}(**inputs)
    assert {{ name }}(**inputs, {{ out }}=given[0])[0] is given[0]
    expected = trace.reference(**_exact(inputs))
    for name, result, right in zip(trace.outputs, given, expected, strict=True):
        assert_close(result, right, name, trace.tolerances)
{% endif %}


@pytest.mark.parametrize("tensor", [{{ inputs | map(attribute="name") | map("tojson") | join(", ") }}])
def test_an_input_that_is_not_contiguous_is_refused_by_name(tensor: str, device: str) -> None:
    inputs = _inputs(device)
    inputs[tensor] = torch.stack([inputs[tensor]] * 2, dim=-1)[..., 0]
    with pytest.raises(ValueError, match=rf"{{ name }}: .*'{tensor}' is not contiguous"):
        {{ name }}(**inputs)


@pytest.mark.parametrize("tensor", [{{ inputs | map(attribute="name") | map("tojson") | join(", ") }}])
def test_an_input_of_another_dtype_is_refused(tensor: str, device: str) -> None:
    inputs = _inputs(device)
    inputs[tensor] = inputs[tensor].to(torch.int16)
    with pytest.raises(TypeError, match=r"{{ name }}: .*int16"):
        {{ name }}(**inputs)
{% for tensor in outputs %}


def test_{{ tensor.name }}_of_another_shape_is_refused_by_name(device: str) -> None:
    wrong = torch.zeros({{ "7, " * (tensor.axes | length) }}device=device, dtype=torch.{{ tensor.dtype or dtypes[0].name }})
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ tensor.name }}' has shape .7"):
        {{ name }}(**_inputs(device), {{ tensor.name }}=wrong)
{% endfor %}
