{% from "_macros/row_names.jinja" import out, vectors, rows, row_indices, first_index with context %}
{% from "_macros/row_tests.jinja" import opening, refusals, lengths, length, only with context %}
{% set extremes = expression.stages | map(attribute="reduction") | select("in", ["max", "min"]) | list %}
{{ opening("sizes at the edges, rows in pieces, pitches, and refusals") }}


@pytest.mark.parametrize("cols", {{ lengths("5000, 65_536, 300_000, 300_001") }})
@pytest.mark.parametrize("rows", [1, 3])
def test_long_rows_in_pieces(rows: int, cols: int, device: str) -> None:
{% if has_integers %}
    inputs = _random(rows, cols, DTYPES[-1], device=device)
{% else %}
    # Why of one sign: of what cancels in so many values no digits are left to compare.
    inputs = [x.abs() for x in _random(rows, cols, DTYPES[-1], device=device)]
{% endif %}
    _check({{ name }}(*inputs, *NUMBERS), inputs)


def test_{{ out }}_is_returned(device: str) -> None:
    inputs = _random(4, {{ length(64) }}, device=device)
    {{ out }} = torch.empty_like({{ name }}(*inputs, *NUMBERS))
    assert {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }}) is {{ out }}
    _check({{ out }}, inputs)


@pytest.mark.parametrize("cols", {{ lengths("128, 1024, 100_000") }})
def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(cols: int, device: str) -> None:
    inputs = _random(5, cols, device=device)
    together = {{ name }}(*inputs, *NUMBERS)
    for row in (0, 1, 4):
        alone = [x[row : row + 1] if x.dim() > 1 else x for x in inputs]
        apart = {{ name }}(*alone, *NUMBERS).float().nan_to_num()
        assert torch.equal(apart, together[row : row + 1].float().nan_to_num())


def test_no_rows_are_no_work(device: str) -> None:
    inputs = _random(0, {{ length(64) }}, device=device)
    assert {{ name }}(*inputs, *NUMBERS).shape == inputs[{{ first_index }}].shape[:-1]
{% if not only %}


{% if extremes %}
def test_rows_without_elements_are_refused_in_words(device: str) -> None:
    inputs = _random(4, 0, device=device)
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ rows[0] }}'.* have no {{ extremes[0] }}"):
        {{ name }}(*inputs, *NUMBERS)
{% else %}
def test_rows_without_elements_give_what_the_reference_does(device: str) -> None:
    inputs = _random(4, 0, device=device)
    _check({{ name }}(*inputs, *NUMBERS), inputs)
{% endif %}
{% endif %}


def test_an_{{ out }}_that_is_not_contiguous_is_refused(device: str) -> None:
    inputs = _random(4, {{ length(8) }}, device=device)
    {{ out }} = {{ name }}(*inputs, *NUMBERS)
    {{ out }} = torch.stack([{{ out }}, {{ out }}], dim=-1)[..., 0]
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}' is not contiguous"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})


{{ refusals() }}
