"""What the trace of {{ name }} cannot say: shapes, strides, sizes at the edges, and refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

{% set op = package ~ "." ~ family ~ "." ~ name %}
{% set ours = ["from fictl.testing import assert_close"] %}
{% set ours = ours + ["from " ~ op ~ ".op import " ~ name, "from " ~ op ~ ".trace import " ~ name ~ " as trace"] %}
{{ import_block(ours) }}

{% set n = inputs | length %}
{% set out = outputs[0].name %}
{% set first = inputs[0].name %}
{% set numbers = [] %}
{% for scalar in scalars %}
{% set _ = numbers.append(scalar.value | string) %}
{% endfor %}
{% set torch_dtypes = [] %}
{% for dtype in dtypes %}
{% set _ = torch_dtypes.append("torch." ~ dtype.name) %}
{% endfor %}
{{ py_literal("DTYPES = (", torch_dtypes, ")") }}
{{ py_literal("NUMBERS = (", numbers, ")") }}


def _random(*shape: int, dtype: torch.dtype = DTYPES[0], device: str) -> list[torch.Tensor]:
    """One tensor for each input."""
{% if has_integers %}
    return [torch.randint(0, 9, shape, device=device).to(dtype) for _ in range({{ n }})]
{% else %}
    return [torch.randn(shape, device=device).to(dtype) for _ in range({{ n }})]
{% endif %}


def _check(result: torch.Tensor, inputs: list[torch.Tensor]) -> None:
    """Against the reference, in fp64."""
    exact = [x.double() if x.is_floating_point() else x for x in inputs]
{{ py("    assert_close(", ["result", "trace.reference(*exact, *NUMBERS)"] + ([outputs[0].name | tojson] if outputs[0].name != "out" else []) + ["tolerances=trace.tolerances"], ")") }}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1023, 4096, 100_003])
def test_any_number_of_elements(n: int, dtype: torch.dtype, device: str) -> None:
    inputs = _random(n, dtype=dtype, device=device)
    _check({{ name }}(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("offset", range(1, 9))
def test_misaligned_inputs(offset: int, device: str) -> None:
    inputs = [x[offset:] for x in _random(1024, device=device)]
    _check({{ name }}(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("written", range({{ n }}))
def test_{{ out }}_is_returned_and_may_be_an_input(written: int, device: str) -> None:
    inputs = _random(64, 96, device=device)
    before = [x.clone() for x in inputs]
    {{ out }} = inputs[written]
    assert {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }}) is {{ out }}
    _check({{ out }}, before)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.t(),
        lambda x: x.view(4, 16, 96).permute(2, 0, 1),
        lambda x: x[:, :40],
        lambda x: x[::2],
        lambda x: x[3:5, 1:],
    ],
)
def test_dense_in_another_order_or_rows_at_a_pitch(
    view: Callable[[torch.Tensor], torch.Tensor], device: str
) -> None:
    inputs = [view(x) for x in _random(64, 96, device=device)]
    _check({{ name }}(*inputs, *NUMBERS), inputs)


def test_a_pitched_{{ out }}_leaves_its_gaps_alone(device: str) -> None:
    inputs = _random(8, 40, device=device)
    whole = torch.full((8, 64), 8.0, device=device).to(DTYPES[0])
    gaps = whole[:, 40:].float()
    {{ name }}(*inputs, *NUMBERS, {{ out }}=whole[:, :40])
    _check(whole[:, :40], inputs)
    assert torch.equal(whole[:, 40:].float(), gaps)


def test_irregular_strides_are_refused_in_words(device: str) -> None:
    inputs = [x[:, ::3] for x in _random(64, 97, device=device)]
    {{ out }} = torch.empty(64, 33, device=device, dtype=DTYPES[0])
    with pytest.raises(ValueError, match=r"{{ name }}: .*stride.*contiguous"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})


def test_another_shape_or_dtype_of_{{ out }}_is_refused_by_name(device: str) -> None:
    inputs = _random(4, 8, device=device)
    wrong = torch.empty(4, 9, device=device, dtype=DTYPES[0])
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}'.*\(4, 9\)"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}=wrong)
    other = torch.empty(4, 8, device=device, dtype=torch.int16)
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ out }}'.*int16"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}=other)
{% for tensor in inputs[1:] %}


def test_another_shape_or_dtype_of_{{ tensor.name }}_is_refused_by_name(device: str) -> None:
    inputs = _random(4, 8, device=device)
    inputs[{{ loop.index }}] = torch.empty(4, 9, device=device, dtype=DTYPES[0])
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ tensor.name }}'.*\(4, 9\)"):
        {{ name }}(*inputs, *NUMBERS)
    inputs[{{ loop.index }}] = torch.empty(4, 8, device=device, dtype=torch.int16)
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ tensor.name }}'.*int16"):
        {{ name }}(*inputs, *NUMBERS)
{% endfor %}


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    inputs = [torch.ones(4, device=device, dtype=torch.int16) for _ in range({{ n }})]
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ first }}'.*int16.*{{ dtypes[0].name }}"):
        {{ name }}(*inputs, *NUMBERS)


@pytest.mark.needs_gpu
def test_an_{{ out }}_on_another_device_is_refused_by_name() -> None:
    {{ out }} = torch.empty(4, 8, dtype=DTYPES[0])
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}'.*(CUDA|cpu)"):
        {{ name }}(*_random(4, 8, device="cuda"), *NUMBERS, {{ out }}={{ out }})


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    inputs, later = _random(1 << 20, device="cuda"), _random(1 << 20, device="cuda")
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
    inputs, later = _random(4096, device="cuda"), _random(4096, device="cuda")
    {{ out }} = torch.empty_like(inputs[0])
    {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})
    for x, new in zip(inputs, later, strict=True):
        x.copy_(new)
    graph.replay()
    torch.cuda.synchronize()
    _check({{ out }}, later)


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements() -> None:
    n = (1 << 31) + 4099
    if torch.cuda.mem_get_info()[0] < {{ n }} * n * DTYPES[0].itemsize + (1 << 30):
        pytest.skip("needs more free GPU memory")
    inputs = [torch.ones(n, device="cuda", dtype=DTYPES[0]) for _ in range({{ n }})]
    for x in inputs:
        x[-1:] = _random(1, device="cuda")[0]
    ends = [[x[at].reshape(1).clone() for x in inputs] for at in (-1, 1 << 31, (1 << 31) - 1, 0)]
    {{ out }} = {{ name }}(*inputs, *NUMBERS, {{ out }}=inputs[0])
    for at, expected in zip((-1, 1 << 31, (1 << 31) - 1, 0), ends, strict=True):
        _check({{ out }}[at].reshape(1), expected)
    assert int(({{ out }}.float() == {{ out }}[0].float()).sum()) >= n - 1
