{% from "_macros/row_names.jinja" import out, vectors, rows, row_indices, first_index with context %}
{% from "_macros/row_tests.jinja" import opening, refusals, lengths, length, only with context %}
{% set op = package ~ "." ~ family ~ "." ~ name %}
{# Without its tests of many lengths, each of which would be a module here. #}
{{ opening("lengths of a row, pitches, and refusals").split("@pytest")[0] | trim | replace("from " ~ op ~ ".op", "from " ~ op ~ ".jit import module\nfrom " ~ op ~ ".op") }}


@pytest.mark.parametrize("cols", {{ lengths("1, 12") }})
def test_any_length_of_a_row(cols: int, device: str) -> None:
    inputs = _random(37, cols, device=device)
    _check({{ name }}(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("rows", [1, 2, 31, 32, 33, 129, 1000])
def test_any_number_of_rows(rows: int, device: str) -> None:
    inputs = _random(rows, {{ length(64) }}, device=device)
    _check({{ name }}(*inputs, *NUMBERS), inputs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_vector_is_16_bytes_or_what_a_row_is_a_multiple_of(dtype: torch.dtype) -> None:
    sizes = {cols: module(dtype, cols).template for cols in (7, 64)}
    assert {cols: made and made.parameters["vec"] for cols, made in sizes.items()} == {
        7: 1,
        64: 16 // dtype.itemsize,
    }


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, device: str) -> None:
    inputs = _random(2, {{ length(64) }}, device=device)
    for moved in range({{ inputs | length }}):
        placed = [_misaligned(x, offset if i == moved else 0) for i, x in enumerate(inputs)]
        _check({{ name }}(*placed, *NUMBERS), inputs)


@pytest.mark.parametrize("gap", [1, 3, 16])
def test_rows_at_a_pitch(gap: int, device: str) -> None:
    inputs = _random(8, {{ length(64) }}, device=device)
    pitched = [_at_pitch(x, gap) if x.dim() > 1 else x for x in inputs]
    _check({{ name }}(*pitched, *NUMBERS), inputs)


@pytest.mark.parametrize("gap", [1, 16])
def test_a_pitched_{{ out }}_leaves_its_gaps_alone(gap: int, device: str) -> None:
    inputs = _random(8, {{ length(64) }}, device=device)
    {{ out }} = _at_pitch(inputs[{{ first_index }}], gap)
    {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})
    _check({{ out }}, inputs)
    gaps = {{ out }}.as_strided((*{{ out }}.shape[:-1], gap), {{ out }}.stride(), {{ out }}.shape[-1])
    assert bool((gaps.float() == 0).all())


@pytest.mark.parametrize("written", [{{ row_indices | join(", ") }}])
def test_{{ out }}_is_returned_and_may_be_an_input(written: int, device: str) -> None:
    inputs = _random(20, {{ length(64) }}, device=device)
    before = [x.clone() for x in inputs]
    {{ out }} = inputs[written]
    assert {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }}) is {{ out }}
    _check({{ out }}, before)


def test_no_rows_are_no_work(device: str) -> None:
    inputs = _random(0, {{ length(64) }}, device=device)
    assert {{ name }}(*inputs, *NUMBERS).shape == inputs[{{ first_index }}].shape


def test_rows_of_no_elements_are_refused(device: str) -> None:
{{ py("    with pytest.raises(", ["ValueError", 'match=r"' ~ name ~ ": .*'" ~ rows[0] ~ "' has rows of 0 elements" ~ '"'], "):") }}
        {{ name }}(*_random(4, 0, device=device), *NUMBERS)


def test_an_{{ out }}_whose_rows_overlap_is_refused(device: str) -> None:
    inputs = _random(4, {{ length(8) }}, device=device)
    whole = inputs[{{ first_index }}].clone()
    {{ out }} = whole.as_strided(whole.shape, [*[0] * (whole.dim() - 1), 1])
{{ py("    with pytest.raises(", ["ValueError", 'match=r"' ~ name ~ ": .*'" ~ out ~ "'.*its rows overlap" ~ '"'], "):") }}
        {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})


{{ refusals() }}
