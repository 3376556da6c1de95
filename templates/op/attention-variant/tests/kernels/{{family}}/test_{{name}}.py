{% set q, k, v, out = inputs[0].name, inputs[1].name, inputs[2].name, outputs[0].name %}
{% set op = package ~ "." ~ family ~ "." ~ name %}
{% set fixed = (axes | selectattr("name", "in", roles.head_dim) | first).size %}
{% set dtype = "torch." ~ dtypes[0].name %}
"""What the trace of {{ name }} cannot say: tiles at their edges, groups, strides, and refusals."""

from __future__ import annotations

import pytest
import torch

{{ import_block(["from fictl.testing import assert_close", "from " ~ op ~ ".op import " ~ name, "from " ~ op ~ ".trace import " ~ name ~ " as trace"]) }}

DTYPE = {{ dtype }}
DIM = {{ fixed or 64 }}
{{ py_literal("NUMBERS = (", scalars | map(attribute="value") | map("string") | list, ")") }}


def _random(
    q_len: int, kv_len: int, heads: int = 4, kv_heads: int = 2, *, device: str
) -> list[torch.Tensor]:
    """{{ q }}, {{ k }} and {{ v }}."""
    shapes = ((q_len, heads, DIM), (kv_len, kv_heads, DIM), (kv_len, kv_heads, DIM))
    return [torch.randn(shape, device=device).to(DTYPE) for shape in shapes]


def _check(result: torch.Tensor, inputs: list[torch.Tensor], causal: bool = False) -> None:
    """Against the reference, in fp64."""
    expected = trace.reference(*(x.double() for x in inputs), *NUMBERS, causal)
    assert_close(result, expected, {{ '"' ~ outputs[0].name ~ '", ' if outputs[0].name != "out" }}tolerances=trace.tolerances)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("q_len", "kv_len"), [(1, 1), (8, 64), (5, 200), (9, 9), (64, 65), (70, 40), (130, 300)]
)
def test_any_lengths(q_len: int, kv_len: int, causal: bool, device: str) -> None:
    inputs = _random(q_len, kv_len, device=device)
    _check({{ name }}(*inputs, *NUMBERS, causal=causal), inputs, causal)


@pytest.mark.parametrize(("heads", "kv_heads"), [(1, 1), (3, 3), (3, 1), (10, 2), (16, 1)])
def test_any_heads_to_one_of_the_keys(heads: int, kv_heads: int, device: str) -> None:
    inputs = _random(20, 70, heads, kv_heads, device=device)
    _check({{ name }}(*inputs, *NUMBERS), inputs)


def test_without_keys_all_is_zero(device: str) -> None:
    inputs = _random(3, 0, device=device)
    {{ out }} = torch.ones_like(inputs[0])
    assert not {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }}).any()


def test_no_queries_are_no_work(device: str) -> None:
    assert {{ name }}(*_random(0, 5, device=device), *NUMBERS).shape == (0, 4, DIM)


def test_the_scale_is_the_callers(device: str) -> None:
    inputs = _random(5, 70, device=device)
    scaled = [inputs[0] * 2, *inputs[1:]]
    {{ out }} = {{ name }}(*inputs, *NUMBERS, sm_scale=2 * DIM**-0.5)
    _check({{ out }}, scaled)


def test_{{ out }}_is_returned(device: str) -> None:
    inputs = _random(5, 70, device=device)
    {{ out }} = torch.empty_like(inputs[0])
    assert {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }}) is {{ out }}
    _check({{ out }}, inputs)


def test_tokens_and_heads_at_any_distance(device: str) -> None:
    inputs = _random(5, 70, device=device)
    apart = [torch.cat([x, x, x], dim=-1)[..., DIM : 2 * DIM] for x in inputs]
    swapped = [x.transpose(0, 1).contiguous().transpose(0, 1) for x in inputs]
    for placed in (apart, swapped):
        _check({{ name }}(*placed, *NUMBERS), inputs)


def test_heads_that_are_not_at_16_bytes_are_refused_in_words(device: str) -> None:
    {{ q }}, {{ k }}, {{ v }} = _random(5, 70, device=device)
    moved = torch.cat([{{ q }}, {{ q }}], dim=-1)[..., 1 : DIM + 1]
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ q }}'.*16 bytes; pass {{ q }}\.clone"):
        {{ name }}(moved, {{ k }}, {{ v }}, *NUMBERS)


def test_shapes_that_do_not_fit_are_refused_by_name(device: str) -> None:
    {{ q }}, {{ k }}, {{ v }} = _random(5, 70, 4, 2, device=device)
    with pytest.raises(ValueError, match=r"{{ name }}: argument '{{ q }}' has shape \(5, 256\)"):
        {{ name }}({{ q }}.flatten(1), {{ k }}, {{ v }}, *NUMBERS)
    with pytest.raises(ValueError, match=r"{{ name }}: argument '{{ k }}' has shape .*'{{ q }}'"):
        {{ name }}({{ q }}[:, :3], {{ k }}, {{ v }}, *NUMBERS)
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ v }}' has shape .*'{{ k }}' has"):
        {{ name }}({{ q }}, {{ k }}, {{ v }}[:9], *NUMBERS)
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}' has shape .*'{{ q }}' has"):
        {{ name }}({{ q }}, {{ k }}, {{ v }}, *NUMBERS, {{ out }}={{ q }}[:2])


def test_another_dtype_is_refused_by_name(device: str) -> None:
    {{ q }}, {{ k }}, {{ v }} = _random(5, 70, device=device)
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ q }}' has dtype float64; accepted"):
        {{ name }}({{ q }}.double(), {{ k }}, {{ v }}, *NUMBERS)
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ v }}' has dtype float32"):
        {{ name }}({{ q }}, {{ k }}, {{ v }}.float(), *NUMBERS)


{% if not fixed %}
def test_heads_of_another_size_are_refused_in_words(device: str) -> None:
    shapes = ((5, 4, 76), (9, 4, 76), (9, 4, 76))
    inputs = [torch.zeros(shape, device=device, dtype=DTYPE) for shape in shapes]
    with pytest.raises(ValueError, match=r"{{ name }}: .*of 76 elements; accepted: multiples"):
        {{ name }}(*inputs, *NUMBERS)


{% endif %}
@pytest.mark.needs_gpu
@pytest.mark.parametrize("dim", [{{ fixed if fixed else "64, 80, 128, 256" }}])
def test_long_prompts(dim: int) -> None:
    shapes = ((1000, 8, dim), (3000, 2, dim), (3000, 2, dim))
    inputs = [torch.randn(shape, device="cuda").to(DTYPE) for shape in shapes]
    for causal in (False, True):
        _check({{ name }}(*inputs, *NUMBERS, causal=causal), inputs, causal)


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    inputs, later = (_random(512, 2048, device="cuda") for _ in range(2))
    {{ name }}(*inputs, *NUMBERS)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        for x, new in zip(inputs, later, strict=True):
            x.copy_(new)
        {{ out }} = {{ name }}(*inputs, *NUMBERS)
    stream.synchronize()
    _check({{ out }}, later)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    inputs, later = (_random(100, 500, device="cuda") for _ in range(2))
    {{ out }} = {{ name }}(*inputs, *NUMBERS)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})
    for x, new in zip(inputs, later, strict=True):
        x.copy_(new)
    graph.replay()
    torch.cuda.synchronize()
    _check({{ out }}, later)
