"""What the trace of {{ name }} cannot say: sizes at the edges, a given output, and refusals."""

from __future__ import annotations

import pytest
import torch

{% set op = package ~ "." ~ family ~ "." ~ name %}
{% set ours = ["from fictl.testing import assert_close, beside_poison, poisoned_allocations", "from " ~ op ~ ".op import " ~ name, "from " ~ op ~ ".trace import " ~ name ~ " as trace"] %}
{{ import_block(ours) }}

{% set free = axes | rejectattr("size") | rejectattr("text") | list %}
{% set fixed = axes | selectattr("size") | list %}
{% set names = free | map(attribute="name") | list %}
{% set numbers = scalars | map(attribute="value") | map("string") | list %}
{% set out = outputs[0].name %}
{% set first = inputs[0].name %}
DTYPES = ({% for dtype in dtypes %}torch.{{ dtype.name }}{{ ", " if not loop.last }}{% endfor %}{{ "," if dtypes | length == 1 }})
NUMBERS = ({{ numbers | join(", ") }}{{ "," if numbers | length == 1 }})
{% for axis in fixed %}
{{ axis.name | upper }} = {{ axis.size }}
{% endfor %}


{% set sized = [] %}
{% for each in names %}
{% set _ = sized.append(each ~ ": int") %}
{% endfor %}
{{ py("def _inputs(", sized + ["dtype: torch.dtype", "device: str"], ") -> list[torch.Tensor]:") }}
    """One tensor for each input, with NaN beside it: what reads too far has it in its results."""
    inputs = [
{% for tensor in inputs %}
{% set shape = [] %}
{% for axis in tensor.axes %}
{% set _ = shape.append(axis.name | upper if axis.name in fixed | map(attribute="name") else axis.name) %}
{% endfor %}
{% set dtype = "torch." ~ tensor.dtype if tensor.dtype else "dtype" %}
{% if untied and tensor.name == untied.name %}
        # Values differ along a row: of equal ones, either index is right.
        ((torch.rand({{ shape | join(", ") }}, device=device).argsort(dim=-1) - {{ shape[-1] }} // 2) / 16).to(dtype),
{% elif (tensor.dtype or "float") is in(["int32", "int64", "int8", "uint8", "bool"]) or (has_integers and not tensor.dtype) %}
        torch.randint(0, 2, ({{ shape | join(", ") }}{{ "," if shape | length == 1 }}), device=device).to({{ dtype }}),
{% else %}
        torch.randn({{ shape | join(", ") }}, device=device).to({{ dtype }}),
{% endif %}
{% endfor %}
    ]
    return [beside_poison(x) for x in inputs]


{% set result = "torch.Tensor" if outputs | length == 1 else "tuple[torch.Tensor, ...]" %}
def _run(inputs: list[torch.Tensor]) -> {{ result }}:
    """Its results, in memory that tells afterwards what was never written."""
    with poisoned_allocations():
        return {{ name }}(*inputs, *NUMBERS)


{% if outputs | length == 1 %}
def _check(result: torch.Tensor, inputs: list[torch.Tensor]) -> None:
    """Against the reference, in fp64."""
    exact = [x.double() if x.is_floating_point() else x for x in inputs]
    expected = trace.reference(*exact, *NUMBERS)
    assert_close(result, expected, "{{ out }}", trace.tolerances, poisoned=True)
{% else %}
{% set some = outputs | rejectattr("dtype") | list and outputs | selectattr("dtype") | list %}
{% if some %}
def _check(
    results: tuple[torch.Tensor, ...], inputs: list[torch.Tensor], tied: bool = False
) -> None:
    """Against the reference, in fp64; where values are tied, an index may be that of another one."""
{% else %}
def _check(results: tuple[torch.Tensor, ...], inputs: list[torch.Tensor]) -> None:
    """Against the reference, in fp64."""
{% endif %}
    exact = [x.double() if x.is_floating_point() else x for x in inputs]
    expected = trace.reference(*exact, *NUMBERS)
    for name, result, right in zip(trace.outputs, results, expected, strict=True):
{% if some %}
        if result.is_floating_point() or not tied:
            assert_close(result, right, name, trace.tolerances, poisoned=True)
{% else %}
        assert_close(result, right, name, trace.tolerances, poisoned=True)
{% endif %}
{% endif %}


@pytest.mark.parametrize("dtype", DTYPES)
{% if brought.any_shape and names | length == 1 %}
@pytest.mark.parametrize("{{ names[0] }}", [0, 1, 7, 255, 256, 257, 1000, 10_007])
{{ py("def test_any_number_of_elements(", [names[0] ~ ": int", "dtype: torch.dtype", "device: str"], ") -> None:") }}
    inputs = _inputs({{ names[0] }}, dtype, device)
    _check(_run(inputs), inputs)
{% else %}
@pytest.mark.parametrize("size", [{% for sizes in edge_sizes %}({{ sizes | join(", ") }}{{ "," if sizes | length == 1 }}){{ ", " if not loop.last }}{% endfor %}])
def test_tiny_odd_and_even_sizes(size: tuple[int, ...], dtype: torch.dtype, device: str) -> None:
    inputs = _inputs(*size, dtype, device)
    _check(_run(inputs), inputs)
{% endif %}
{% set compared = outputs | rejectattr("dtype") | list + outputs | selectattr("dtype") | selectattr("dtype", "in", ["float16", "bfloat16", "float32", "float64"]) | list %}
{% if compared and not has_integers %}


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_values(dtype: torch.dtype, device: str) -> None:
    inputs = _inputs({{ (usual_sizes | map("string") | list + ["dtype", "device"]) | join(", ") }})
    for x in inputs:
        if x.is_floating_point():
            x.copy_(x.float().abs().round() + 1)
    _check(_run(inputs), inputs{{ ", tied=True" if outputs | length > 1 and some }})
{% endif %}

{% set usual = usual_sizes | map("string") | list %}
{% set given = usual + ["DTYPES[0]", "device"] %}

def test_{{ out }}_is_returned(device: str) -> None:
    inputs = _inputs({{ given | join(", ") }})
{% if outputs | length == 1 %}
    given = {{ name }}(*inputs, *NUMBERS)
    assert {{ name }}(*inputs, *NUMBERS, {{ out }}=given.zero_()) is given
    _check(given, inputs)
{% else %}
    given = {{ name }}(*inputs, *NUMBERS)[0]
    assert {{ name }}(*inputs, *NUMBERS, {{ out }}=given)[0] is given
{% endif %}
{% for tensor in inputs %}


def test_{{ tensor.name }}_that_is_not_contiguous_is_refused_by_name(device: str) -> None:
    inputs = _inputs({{ given | join(", ") }})
    inputs[{{ loop.index0 }}] = torch.stack([inputs[{{ loop.index0 }}]] * 2, dim=-1)[..., 0]
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ tensor.name }}' is not contiguous"):
        {{ name }}(*inputs, *NUMBERS)


def test_{{ tensor.name }}_of_another_dtype_is_refused_by_name(device: str) -> None:
    inputs = _inputs({{ given | join(", ") }})
    inputs[{{ loop.index0 }}] = inputs[{{ loop.index0 }}].to(torch.int16)
    with pytest.raises(TypeError, match=r"{{ name }}: .*int16"):
        {{ name }}(*inputs, *NUMBERS)
{% endfor %}
{% for tensor in inputs[1:] + outputs %}
{% if tensor in outputs or brought.any_shape or tensor.axis_names | reject("in", inputs[0].axis_names) | list != tensor.axis_names | list %}


def test_{{ tensor.name }}_of_another_shape_is_refused_by_name(device: str) -> None:
    inputs = _inputs({{ given | join(", ") }})
    wrong = torch.zeros({{ "7, " * (tensor.axes | length) }}device=device, dtype={{ "torch." ~ tensor.dtype if tensor.dtype else "DTYPES[0]" }})
{% if tensor in outputs %}
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ tensor.name }}' has shape .7"):
        {{ name }}(*inputs, *NUMBERS, {{ tensor.name }}=wrong)
{% else %}
    inputs[{{ loop.index }}] = wrong
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ tensor.name }}' has shape .7"):
        {{ name }}(*inputs, *NUMBERS)
{% endif %}
{% endif %}
{% endfor %}


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    inputs = _inputs({{ (usual + ["DTYPES[0]", '"cuda"']) | join(", ") }})
    later = [x.clone() for x in inputs]
    for x in inputs:
        x.zero_()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        for x, new in zip(inputs, later, strict=True):
            x.copy_(new)
        result = {{ name }}(*inputs, *NUMBERS)
    stream.synchronize()
    _check(result, later)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    inputs = _inputs({{ (usual + ["DTYPES[0]", '"cuda"']) | join(", ") }})
    later = [x.clone() for x in inputs]
    {{ name }}(*inputs, *NUMBERS)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = {{ name }}(*inputs, *NUMBERS)
    for x, new in zip(inputs, later, strict=True):
        x.copy_(new.flip(-1))
    graph.replay()
    torch.cuda.synchronize()
    _check(result, inputs)
