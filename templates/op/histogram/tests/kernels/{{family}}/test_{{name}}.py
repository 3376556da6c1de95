{% from "_macros/matrix_tests.jinja" import opening, placed, refusals, on_a_gpu, x with context %}
{% set counts = outputs[0].name %}
{% set floats = dtypes[0].name.startswith(("float", "bfloat")) %}
{{ opening("edges of rows and bins, equal elements, NaN, places in memory, refusals") }}

def _random(rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str) -> torch.Tensor:
    """Normal numbers, so that some are outside of -2 to 2."""
    return torch.randn(rows, cols, device=device).to(dtype)


{{ placed() }}


def _check(result: torch.Tensor, x: torch.Tensor, bins: int, low: float, high: float) -> None:
    assert torch.equal(result, trace.reference(x, bins, low, high))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 7, 8, 129, 1000, 1024, 9000, 20_001])
def test_any_length_of_a_row(cols: int, dtype: torch.dtype, device: str) -> None:
    {{ x }} = _random(3, cols, dtype, device=device)
    _check({{ name }}({{ x }}, 10, -2.0, 2.0), {{ x }}, 10, -2.0, 2.0)


@pytest.mark.parametrize("bins", [1, 2, 33, 1000, 1025, 8192, 8193])
@pytest.mark.parametrize("rows", [1, 40])
def test_any_number_of_bins(rows: int, bins: int, device: str) -> None:
    {{ x }} = _random(rows, 264, device=device)
    _check({{ name }}({{ x }}, bins, -2.0, 2.0), {{ x }}, bins, -2.0, 2.0)


def test_a_whole_tensor_is_one_row(device: str) -> None:
    {{ x }} = _random(16, 4096, device=device).view(1, -1)
    {{ counts }} = {{ name }}({{ x }}, 5, -9.0, 9.0)
    assert int({{ counts }}.sum()) == {{ x }}.numel()
    _check({{ counts }}, {{ x }}, 5, -9.0, 9.0)


@pytest.mark.parametrize("cols", [8, 5001])
def test_equal_elements_are_counted_together(cols: int, device: str) -> None:
    {{ x }} = torch.ones(2, cols, dtype=DTYPES[0], device=device)
    assert {{ name }}({{ x }}, 4, 0.0, 4.0).tolist() == [[0, cols, 0, 0]] * 2


def test_both_ends_are_counted_and_what_is_outside_is_not(device: str) -> None:
    {{ x }} = torch.tensor([[-1.0, 0.0, 1.0, 3.0, 4.0, 5.0]], device=device).to(DTYPES[0])
    assert {{ name }}({{ x }}, 4, 0.0, 4.0).tolist() == [[1, 1, 0, 2]]


def test_indices_are_counted_each(device: str) -> None:
    {{ x }} = torch.randint(0, 60, (3, 500), device=device)
    expected = torch.stack([torch.bincount(row, minlength=60) for row in {{ x }}])
    assert torch.equal({{ name }}({{ x }}.to(DTYPES[0]), 60, 0, 59), expected)
{% if floats %}


def test_nan_and_infinities_are_not_counted(device: str) -> None:
    {{ x }} = torch.tensor([[torch.nan, torch.inf, 0.5, -torch.inf]], device=device).to(DTYPES[0])
    assert {{ name }}({{ x }}, 3, 0.0, 1.0).tolist() == [[0, 1, 0]]
{% endif %}


@pytest.mark.parametrize("cols", [64, 1600])
def test_rows_at_any_place_and_pitch(cols: int, device: str) -> None:
    {{ x }} = _random(3, cols, device=device)
    for moved in _elsewhere({{ x }}):
        _check({{ name }}(moved, 9, -2.0, 2.0), {{ x }}, 9, -2.0, 2.0)


@pytest.mark.parametrize("bins", [6, 9000])
def test_counts_do_not_add_to_what_was_there(bins: int, device: str) -> None:
    {{ x }} = _random(2, 9000, device=device)
    {{ counts }} = torch.full((2, bins), 7, dtype=torch.int32, device=device)
    assert {{ name }}({{ x }}, bins, -2.0, 2.0, {{ counts }}={{ counts }}) is {{ counts }}
    _check({{ counts }}, {{ x }}, bins, -2.0, 2.0)


@pytest.mark.parametrize(("rows", "cols"), [(0, 16), (4, 0)])
def test_nothing_to_count_counts_nothing(rows: int, cols: int, device: str) -> None:
    {{ counts }} = {{ name }}(_random(rows, cols, device=device), 5, 0.0, 1.0)
    assert {{ counts }}.tolist() == [[0] * 5] * rows


@pytest.mark.parametrize("bins", [-1, 0, (1 << 24) + 1])
def test_no_bins_or_too_many_are_refused(bins: int, device: str) -> None:
    {{ x }} = _random(1, 8, device=device)
    {{ counts }} = torch.empty(1, 8, dtype=torch.int32, device=device)
    with pytest.raises(ValueError, match=rf"{{ name }}: argument 'bins' is {bins}"):
        {{ name }}({{ x }}, bins, 0.0, 1.0, {{ counts }}={{ counts }})


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, 1.0), (2.0, 1.0), (0.0, torch.nan), (0.0, torch.inf), (1.0, 1.0 + 1e-9)]
)
def test_ends_without_a_width_are_refused(low: float, high: float, device: str) -> None:
    with pytest.raises(ValueError, match=r"{{ name }}: argument 'high' is .*high is above low"):
        {{ name }}(_random(1, 8, device=device), 4, low, high)


def test_{{ counts }}_that_are_not_contiguous_are_refused(device: str) -> None:
    {{ counts }} = torch.empty(2, 8, dtype=torch.int32, device=device)[:, :4]
    with pytest.raises(ValueError, match=r"{{ name }}: argument '{{ counts }}' is not contiguous"):
        {{ name }}(_random(2, 8, device=device), 4, 0.0, 1.0, {{ counts }}={{ counts }})


{{ refusals("4, -2.0, 2.0", 16) }}

{{ on_a_gpu("4, -2.0, 2.0", 50_000) }}
