{% from "_macros/row_names.jinja" import out, names, vectors, rows, first_index with context %}
{% from "_macros/row_tests.jinja" import lengths, length, only with context %}
{% set op = package ~ "." ~ family ~ "." ~ name %}
{% set first = rows[0] %}
{% set torch_dtypes = [] %}
{% for each in dtypes %}
{% set _ = torch_dtypes.append("torch." ~ each.name) %}
{% endfor %}
{% set sizes = [] %}
{% for each in names %}
{% set _ = sizes.append("(cols,)" if each in vectors else "(rows, cols)") %}
{% endfor %}
"""What the trace of {{ name }} cannot say: which token a number draws, how often, and refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

{{ import_block(["from fictl.op import uniforms", "from " ~ op ~ " import trace", "from " ~ op ~ ".op import " ~ name]) }}

{{ py_literal("DTYPES = (", torch_dtypes, ")") }}
{{ py_literal("NUMBERS = (", scalars | map(attribute="value") | map("string") | list, ")") }}
ROUNDING = 1e-5  # of the sum of weights, in fp32


def _random(
    rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str
) -> list[torch.Tensor]:
    """One tensor for each input, of small numbers and few large ones."""
{{ py_literal("    return [torch.rand(each, device=device).pow(4).to(dtype) for each in (", sizes, ")]") }}


def _drawn(inputs: list[torch.Tensor], **given: Any) -> torch.Tensor:
    return {{ name }}(*inputs, *NUMBERS, **{"seed": 42, "offset": 0, **given})


def _weights(inputs: list[torch.Tensor], indices: torch.Tensor | None = None) -> torch.Tensor:
    """A row for each draw, as in fp32."""
    weights = trace._weights(*(x.float() for x in inputs), *NUMBERS)
    return trace._of_draws(weights, indices).double()


def _check(
    tokens: torch.Tensor,
    inputs: list[torch.Tensor],
    *,
    indices: torch.Tensor | None = None,
    seed: int | torch.Tensor = 42,
    offset: int | torch.Tensor = 0,
) -> None:
    """Each is the token whose share of the weights its random number falls into."""
    weights = _weights(inputs, indices)
    total = weights.sum(dim=-1, keepdim=True)
    at = tokens.long()[:, None]
    share = weights.gather(-1, at) / total
    end = weights.cumsum(dim=-1).gather(-1, at) / total
    number = uniforms(len(tokens), 1, seed, offset, tokens.device)
    inside = (number > end - share - ROUNDING) & (number < end + ROUNDING) & (share > 0)
    right = inside | ((total == 0) & (at == 0))
    assert bool(right.all()), f"wrong: {tokens[~right[:, 0]].tolist()}"


def _at_pitch(x: torch.Tensor, gap: int) -> torch.Tensor:
    """The same with so many elements between its rows."""
    whole = torch.zeros(*x.shape[:-1], x.shape[-1] + gap, device=x.device).to(x.dtype)
    return whole[..., : x.shape[-1]].copy_(x)


def _misaligned(x: torch.Tensor, offset: int) -> torch.Tensor:
    """The same, so many elements behind an aligned place."""
    memory = torch.zeros(offset + x.numel(), device=x.device).to(x.dtype)
    return memory[offset:].view(x.shape).copy_(x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", {{ lengths("1, 7, 511, 513, 2056") }})
def test_any_length_of_a_row(cols: int, dtype: torch.dtype, device: str) -> None:
    inputs = _random(3, cols, dtype, device=device)
    _check(_drawn(inputs), inputs)


@pytest.mark.parametrize("cols", {{ lengths("20_000, 70_001") }})
@pytest.mark.parametrize("rows", [1, 3])
def test_rows_that_warps_and_blocks_share(rows: int, cols: int, device: str) -> None:
    inputs = _random(rows, cols, device=device)
    _check(_drawn(inputs), inputs)


@pytest.mark.parametrize("gap", [1, 4])
def test_rows_at_a_pitch(gap: int, device: str) -> None:
    inputs = _random(3, {{ length(600) }}, device=device)
    _check(_drawn([_at_pitch(x, gap) if x.dim() > 1 else x for x in inputs]), inputs)


@pytest.mark.parametrize("offset", [1, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, device: str) -> None:
    inputs = _random(2, {{ length(1024) }}, device=device)
    for moved in range({{ names | length }}):
        placed = [_misaligned(x, offset if i == moved else 0) for i, x in enumerate(inputs)]
        _check(_drawn(placed), inputs)


def test_a_token_is_drawn_as_often_as_its_weight_says(device: str) -> None:
    count = 1_000_000 if device == "cuda" else 2_000
    inputs = _random(1, {{ length(50) }}, device=device)
    indices = torch.zeros(count, dtype=torch.int32, device=device)
    weights = _weights(inputs)[0]
    expected = count * weights / weights.sum()
    times = torch.bincount(_drawn(inputs, indices=indices), minlength=len(weights))
    # Why 6 more: what is expected once comes five times more often than five sigma say.
    assert not bool(((times - expected).abs() > 5 * expected.sqrt() + 6).any())


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_indices_say_which_row(dtype: torch.dtype, device: str) -> None:
    inputs = _random(4, {{ length(600) }}, device=device)
    indices = torch.tensor([3, 0, 0, 2, 1, 3], dtype=dtype, device=device)
    _check(_drawn(inputs, indices=indices), inputs, indices=indices)


def test_of_a_row_that_is_not_there_the_token_is_0(device: str) -> None:
    inputs = _random(4, {{ length(600) }}, device=device)
    indices = torch.tensor([-1, 4, 1 << 30], dtype=torch.int32, device=device)
    assert _drawn(inputs, indices=indices).tolist() == [0, 0, 0]


@pytest.mark.parametrize("value", [0.0, torch.nan])
def test_a_row_without_numbers_gives_a_token_all_the_same(value: float, device: str) -> None:
    inputs = _random(3, {{ length(600) }}, device=device)
    inputs[{{ first_index }}][1] = value
    _check(_drawn(inputs), inputs)


def test_a_token_with_a_seed_of_its_own_is_the_same_whatever_is_batched_with_it(
    device: str,
) -> None:
    inputs = _random(9, {{ length(2056) }}, device=device)
    seeds, offsets = torch.arange(100, 109, device=device), torch.arange(9, device=device)
    together = _drawn(inputs, seed=seeds, offset=offsets)
    _check(together, inputs, seed=seeds, offset=offsets)
    for row in (0, 1, 8):
        at = slice(row, row + 1)
        alone = [x[at] if x.dim() > 1 else x for x in inputs]
        assert torch.equal(_drawn(alone, seed=seeds[at], offset=offsets[at]), together[at])


def test_seeds_offsets_and_generators_reproduce(device: str) -> None:
    inputs = _random(64, {{ length(111) }}, device=device)
    first = _drawn(inputs)
    assert torch.equal(_drawn(inputs), first)
    _check(_drawn(inputs, seed=-1), inputs, seed=-1)
    _check(_drawn(inputs, offset=6), inputs, offset=6)
    given = {"seed": None, "offset": None}
    generator = torch.Generator(device).manual_seed(7)
    first, second = (_drawn(inputs, **given, generator=generator) for _ in range(2))
    generator.manual_seed(7)
    assert torch.equal(_drawn(inputs, **given, generator=generator), first)
    assert torch.equal(_drawn(inputs, **given, generator=generator), second)
    with pytest.raises(ValueError, match=r"{{ name }}: .*'seed' is given and 'offset' is not"):
        _drawn(inputs, offset=None)


def test_{{ out }}_is_returned(device: str) -> None:
    inputs = _random(4, {{ length(64) }}, device=device)
    {{ out }} = torch.empty(4, dtype=torch.int32, device=device)
    assert _drawn(inputs, {{ out }}={{ out }}) is {{ out }}
    _check({{ out }}, inputs)


def test_no_tokens_are_no_work(device: str) -> None:
    none = torch.zeros(0, dtype=torch.int64, device=device)
    assert _drawn(_random(0, {{ length(64) }}, device=device)).shape == (0,)
    assert _drawn(_random(4, {{ length(64) }}, device=device), indices=none).shape == (0,)


{% if only %}
@pytest.mark.parametrize("cols", [{{ only | int + 8 }}])
def test_another_length_of_a_row_is_refused_by_name(cols: int, device: str) -> None:
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ first }}' has shape .* is {{ only }}"):
        _drawn(_random(1, cols, device=device))
{% else %}
@pytest.mark.parametrize("cols", [0, (1 << 20) + 1])
def test_a_row_of_no_tokens_or_too_many_is_refused(cols: int, device: str) -> None:
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ first }}' has shape .* 1 to 1048576"):
        _drawn(_random(1, cols, device=device))
{% endif %}


def test_a_last_dimension_that_is_not_contiguous_is_refused(device: str) -> None:
    inputs = _random(4, {{ length(8) }}, device=device)
    inputs[{{ first_index }}] = _at_pitch(inputs[{{ first_index }}].t(), 0).t()
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ first }}'.*\.contiguous\(\)"):
        _drawn(inputs)
{% for each in names if each != first %}


def test_another_shape_or_dtype_of_{{ each }}_is_refused_by_name(device: str) -> None:
    inputs = _random(4, {{ length(8) }}, device=device)
    right = inputs[{{ names.index(each) }}]
    inputs[{{ names.index(each) }}] = torch.cat([right, right], dim=-1)
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ each }}' has "):
        _drawn(inputs)
    inputs[{{ names.index(each) }}] = right.to(torch.int16)
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ each }}'.*int16"):
        _drawn(inputs)
{% endfor %}


def test_another_shape_or_dtype_of_{{ out }}_is_refused_by_name(device: str) -> None:
    inputs = _random(4, {{ length(8) }}, device=device)
    right = _drawn(inputs)
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}' has shape \(8,\), '{{ first }}' has"):
        _drawn(inputs, {{ out }}=torch.cat([right, right]))
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ out }}' has dtype int64; accepted: int32"):
        _drawn(inputs, {{ out }}=right.long())
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}' is not contiguous"):
        _drawn(inputs, {{ out }}=torch.stack([right, right], dim=-1)[:, 0])


def test_another_shape_or_dtype_of_indices_is_refused_by_name(device: str) -> None:
    inputs = _random(4, {{ length(8) }}, device=device)
    with pytest.raises(ValueError, match=r"{{ name }}: .*'indices' has shape \(2, 1\)"):
        _drawn(inputs, indices=torch.zeros(2, 1, dtype=torch.int32, device=device))
    with pytest.raises(ValueError, match=r"{{ name }}: .*'indices' has dtype float32; accepted: int32"):
        _drawn(inputs, indices=torch.zeros(2, device=device))


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    inputs = [x[None] if x.dim() > 1 else x for x in _random(4, {{ length(8) }}, device=device)]
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ first }}' has shape .*dimensional"):
        _drawn(inputs)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    inputs = [x.double() for x in _random(4, {{ length(8) }}, device=device)]
    with pytest.raises(TypeError, match=r"{{ name }}: .*'{{ first }}'.*float64.*{{ dtypes[0].name }}"):
        _drawn(inputs)


@pytest.mark.needs_gpu
def test_an_{{ out }}_on_another_device_is_refused_by_name() -> None:
    inputs = _random(4, {{ length(8) }}, device="cuda")
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}'.*CPU"):
        _drawn(inputs, {{ out }}=torch.zeros(4, dtype=torch.int32))


@pytest.mark.needs_gpu
def test_how_many_blocks_share_a_row_does_not_matter() -> None:
    inputs = _random(200, {{ length(128_256) }}, device="cuda")
    together = _drawn(inputs, seed=(seeds := torch.arange(200, device="cuda")), offset=seeds)
    _check(together, inputs, seed=seeds, offset=seeds)
    for rows in (1, 20, 40):
        few = [x[:rows] if x.dim() > 1 else x for x in inputs]
        apart = _drawn(few, seed=seeds[:rows], offset=seeds[:rows])
        assert torch.equal(apart, together[:rows])


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    inputs, later = (_random(256, {{ length(4096) }}, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        for x, new in zip(inputs, later, strict=True):
            x.copy_(new)
        {{ out }} = _drawn(inputs)
    stream.synchronize()
    _check({{ out }}, later)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it_for_the_seeds_of_then() -> None:
    inputs, later = (_random(4, {{ length(50_000) }}, device="cuda") for _ in range(2))
    seeds, offsets = torch.arange(4, device="cuda"), torch.zeros(4, device="cuda").long()
    {{ out }} = _drawn(inputs, seed=seeds, offset=offsets)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        _drawn(inputs, seed=seeds, offset=offsets, {{ out }}={{ out }})
    for x, new in zip([*inputs, offsets], [*later, offsets + 8], strict=True):
        x.copy_(new)
    graph.replay()
    torch.cuda.synchronize()
    _check({{ out }}, later, seed=seeds, offset=offsets)
