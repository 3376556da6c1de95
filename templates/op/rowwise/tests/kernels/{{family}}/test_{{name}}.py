{% from "_macros/row_names.jinja" import out, vectors, rows, row_indices, first_index with context %}
{% from "_macros/row_tests.jinja" import opening, refusals, lengths, length, only with context %}
{{ opening("sizes at the edges, pitches, and refusals") }}


@pytest.mark.parametrize("cols", {{ lengths("40, 1024") }})
def test_a_pitched_{{ out }}_leaves_its_gaps_alone(cols: int, device: str) -> None:
    inputs = _random(8, cols, device=device)
    {{ out }} = _at_pitch(inputs[{{ first_index }}], 16)
    {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }})
    _check({{ out }}, inputs)
    gaps = {{ out }}.as_strided((*{{ out }}.shape[:-1], 16), {{ out }}.stride(), {{ out }}.shape[-1])
    assert bool((gaps.float() == 0).all())


@pytest.mark.parametrize("written", [{{ row_indices | join(", ") }}])
@pytest.mark.parametrize("cols", {{ lengths("64, 100, 1024, 20_000, 70_000") }})
def test_{{ out }}_is_returned_and_may_be_an_input(written: int, cols: int, device: str) -> None:
    inputs = _random(2, cols, device=device)
    before = [x.clone() for x in inputs]
    {{ out }} = inputs[written]
    assert {{ name }}(*inputs, *NUMBERS, {{ out }}={{ out }}) is {{ out }}
    _check({{ out }}, before)


@pytest.mark.parametrize("cols", {{ lengths("128, 1024") }})
def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(cols: int, device: str) -> None:
    inputs = _random(37, cols, device=device)
    together = {{ name }}(*inputs, *NUMBERS)
    for row in (0, 1, 36):
        alone = [x[row : row + 1] if x.dim() > 1 else x for x in inputs]
        apart = {{ name }}(*alone, *NUMBERS).float().nan_to_num()
        assert torch.equal(apart, together[row : row + 1].float().nan_to_num())


@pytest.mark.parametrize(("rows", "cols"), [(0, {{ length(64) }}){{ ", (4, 0)" if not only }}])
def test_no_elements_are_no_work(rows: int, cols: int, device: str) -> None:
    inputs = _random(rows, cols, device=device)
    assert {{ name }}(*inputs, *NUMBERS).shape == inputs[{{ first_index }}].shape


def test_an_{{ out }}_whose_rows_overlap_is_refused(device: str) -> None:
    inputs = _random(4, {{ length(8) }}, device=device)
    row = torch.zeros_like(inputs[{{ first_index }}].flatten()[: inputs[{{ first_index }}].shape[-1]])
    with pytest.raises(ValueError, match=r"{{ name }}: .*'{{ out }}'.*its rows overlap"):
        {{ name }}(*inputs, *NUMBERS, {{ out }}=row.expand_as(inputs[{{ first_index }}]))


{{ refusals() }}
