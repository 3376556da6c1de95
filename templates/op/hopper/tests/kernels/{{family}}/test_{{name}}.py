{% from "_macros/row_names.jinja" import out, names with context %}
{% set first = names[0] %}
{% set n = names | length %}
"""Tests of {{ name }} beside its trace: edges of tiles, pitches, and refusals."""

from __future__ import annotations

import pytest
import torch

{% set op = package ~ "." ~ family ~ "." ~ name %}
{{ import_block(["from fictl.testing import assert_close", "from " ~ op ~ ".op import " ~ name, "from " ~ op ~ ".trace import " ~ name ~ " as trace"]) }}

{% set numbers, torch_dtypes = [], [] %}
{% for scalar in scalars %}
{% set _ = numbers.append(scalar.value | string) %}
{% endfor %}
{% for dtype in dtypes %}
{% set _ = torch_dtypes.append("torch." ~ dtype.name) %}
{% endfor %}
{% set lead = "1, " * (roles.rows | length - 1) %}
{{ py_literal("DTYPES = (", torch_dtypes, ")") }}
{{ py_literal("NUMBERS = (", numbers, ")") }}


def _random(*shape: int, dtype: torch.dtype = DTYPES[0], device: str) -> list[torch.Tensor]:
    """One tensor for each input, with rows that begin at multiples of 16 bytes."""
    *rows, columns = shape
    step = 16 // dtype.itemsize
    pitch = -(-columns // step) * step
    return [torch.randn(*rows, pitch, device=device).to(dtype)[..., :columns] for _ in range({{ n }})]


def _check(result: torch.Tensor, inputs: list[torch.Tensor]) -> None:
    """Against the reference, in fp64."""
    expected = trace.reference(*(x.double() for x in inputs), *NUMBERS)
    assert_close(result, expected, {{ '"' ~ outputs[0].name ~ '", ' if outputs[0].name != "out" }}tolerances=trace.tolerances)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 1), (16, 256), (17, 257), (33, 111), (100, 264), (200, 1000)]
)
def test_any_size(rows: int, columns: int, dtype: torch.dtype, device: str) -> None:
    inputs = _random({{ lead }}rows, columns, dtype=dtype, device=device)
    _check({{ name }}(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize(("rows", "columns"), [(0, 8), (8, 0)])
def test_no_elements_are_no_work(rows: int, columns: int, device: str) -> None:
    inputs = _random({{ lead }}rows, columns, device=device)
    assert {{ name }}(*inputs, *NUMBERS).shape == inputs[0].shape


@pytest.mark.parametrize("written", range({{ n }}))
def test_{{ out }}_is_returned_and_may_be_an_input(written: int, device: str) -> None:
    inputs = _random({{ lead }}64, 96, device=device)
    before = [x.clone() for x in inputs]
    {{ out }} = inputs[written]
    assert {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }}) is {{ out }}
    _check({{ out }}, before)


def test_rows_at_a_pitch_leave_the_gaps_of_{{ out }}_alone(device: str) -> None:
    inputs = [x[..., ::2, 8:48] for x in _random({{ lead }}40, 80, device=device)]
    whole = torch.full(({{ lead }}20, 64), 8.0, device=device).to(DTYPES[0])
    {{ name }}(*inputs, *NUMBERS, {{ out }}=whole[..., :40])
    _check(whole[..., :40], inputs)
    assert bool((whole[..., 40:] == 8.0).all())


def test_rows_that_end_within_16_bytes_are_refused_as_{{ out }}(device: str) -> None:
    """Bulk stores would write what follows them."""
    inputs = _random({{ lead }}20, 43, device=device)
    whole = torch.empty({{ lead }}20, 64, device=device, dtype=DTYPES[0])
    with pytest.raises(ValueError, match=r"{{ name }}: argument '{{ out }}' has rows of \d+ bytes.*16"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}=whole[..., :43])


def test_what_lies_beyond_a_row_is_not_seen(device: str) -> None:
    whole = _random({{ lead }}20, 64, device=device)
    for x in whole:
        x[..., 43:] = torch.nan
    inputs = [x[..., :43] for x in whole]
    _check({{ name }}(*inputs, *NUMBERS), inputs)


def test_rows_that_bulk_copies_cannot_address_are_refused_in_words(device: str) -> None:
    odd = [x.contiguous() for x in _random({{ lead }}4, 13, device=device)]
    with pytest.raises(ValueError, match=r"{{ name }}: argument '\w+' .*stride.*of 16.*padded"):
        {{ name }}(*odd, *NUMBERS)
    inputs = _random({{ lead }}4, 24, device=device)
    {{ out }} = torch.empty({{ lead }}4, 32, device=device, dtype=DTYPES[0])[..., 1:25]
    with pytest.raises(ValueError, match=r"{{ name }}: argument '{{ out }}' .*address.*of 16 bytes"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})


def test_rows_that_overlap_are_refused_in_words(device: str) -> None:
    inputs = [x.expand({{ lead }}4, 16) for x in _random({{ lead }}1, 16, device=device)]
    with pytest.raises(ValueError, match=r"{{ name }}: argument '\w+' .*overlap"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}=_random({{ lead }}4, 16, device=device)[0])


def test_another_shape_or_dtype_of_{{ out }}_is_refused_by_name(device: str) -> None:
    inputs = _random({{ lead }}4, 8, device=device)
    wrong = torch.empty({{ lead }}4, 16, device=device, dtype=DTYPES[0])
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}'.*4, 16\)"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}=wrong)
    other = torch.empty({{ lead }}4, 8, device=device, dtype=torch.int16)
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ out }}'.*int16"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}=other)


def test_another_number_of_dimensions_is_refused(device: str) -> None:
    inputs = [torch.ones(8, device=device, dtype=DTYPES[0]) for _ in range({{ n }})]
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ first }}'.*-dimensional"):
        {{ name }}(*inputs, *NUMBERS)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    inputs = [torch.ones({{ lead }}4, 8, device=device, dtype=torch.int16) for _ in range({{ n }})]
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ first }}'.*int16.*{{ dtypes[0].name }}"):
        {{ name }}(*inputs, *NUMBERS)


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    inputs, later = _random({{ lead }}512, 2048, device="cuda"), _random({{ lead }}512, 2048, device="cuda")
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
    inputs, later = _random({{ lead }}64, 256, device="cuda"), _random({{ lead }}64, 256, device="cuda")
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
    rows, columns = (1 << 16) + 1, 1 << 15
    if torch.cuda.mem_get_info()[0] < {{ n }} * rows * columns * DTYPES[0].itemsize + (1 << 30):
        pytest.skip("needs more free GPU memory")
    inputs = [torch.ones({{ lead }}rows, columns, device="cuda", dtype=DTYPES[0]) for _ in range({{ n }})]
    last = _random({{ lead }}1, columns, device="cuda")
    for x, row in zip(inputs, last, strict=True):
        x[..., -1:, :] = row
    {{ out }} = {{ name }}(*inputs, *NUMBERS, {{ out }}=inputs[0])
    _check({{ out }}[..., -1:, :], last)
    assert bool(({{ out }}[..., :-1, :] == {{ out }}.flatten()[0]).all())
