{% from "_macros/matrix_tests.jinja" import opening, placed, refusals, on_a_gpu, x with context %}
{% set values, indices = outputs[0].name, outputs[1].name %}
{{ opening("edges of rows and of k, equal elements, NaN, places in memory, refusals") }}
Result = tuple[torch.Tensor, torch.Tensor]


def _random(rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str) -> torch.Tensor:
    return torch.randn(rows, cols, device=device).to(dtype)


{{ placed() }}


def _check(result: Result, x: torch.Tensor, k: int) -> None:
    """Against the reference, exactly; NaN is NaN, whichever."""
    for value, expected in zip(result, trace.reference(x, k), strict=True):
        assert bool(((value == expected) | (value.isnan() & expected.isnan())).all())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 2, 7, 8, 33, 128, 1000])
def test_rows_that_are_sorted_whole(cols: int, dtype: torch.dtype, device: str) -> None:
    {{ x }} = _random(3, cols, dtype, device=device)
    for k in {1, cols // 2 + 1, cols}:
        _check({{ name }}({{ x }}, k), {{ x }}, k)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [2047, 2048, 2049, 5000, 8192])
def test_rows_at_and_beyond_what_is_sorted(cols: int, dtype: torch.dtype, device: str) -> None:
    {{ x }} = _random(2, cols, dtype, device=device)
    _check({{ name }}({{ x }}, 9), {{ x }}, 9)


@pytest.mark.parametrize("k", [1, 2, 31, 257, 2047, 2048])
def test_any_k(k: int, device: str) -> None:
    {{ x }} = _random(1, 4104, device=device)
    _check({{ name }}({{ x }}, k), {{ x }}, k)


@pytest.mark.parametrize("cols", [40, 4100])
def test_of_equal_elements_the_first_are_chosen(cols: int, device: str) -> None:
    {{ x }} = torch.full((2, cols), -1.5, dtype=DTYPES[0], device=device)
    {{ values }}, {{ indices }} = {{ name }}({{ x }}, 20)
    assert bool(({{ values }} == -1.5).all())
    assert {{ indices }}.tolist() == [[*range(20)]] * 2
    few = torch.randint(-2, 3, (3, cols), device=device).to(DTYPES[0])
    _check({{ name }}(few, 37), few, 37)


@pytest.mark.parametrize("cols", [24, 2500])
def test_nan_is_above_infinity_and_minus_infinity_below_all(cols: int, device: str) -> None:
    {{ x }} = _random(2, cols, device=device)
    {{ x }}[0, 3], {{ x }}[0, 5], {{ x }}[0, cols - 1] = torch.inf, torch.nan, -torch.nan
    {{ x }}[1] = -torch.inf
    {{ x }}[1, 7] = -1e4
    _, {{ indices }} = {{ name }}({{ x }}, 4)
    assert {{ indices }}[0, :3].tolist() == [5, cols - 1, 3]
    assert {{ indices }}[1].tolist() == [7, 0, 1, 2]
    _check({{ name }}({{ x }}, 4), {{ x }}, 4)


def test_zeros_of_either_sign_are_equal_and_stay_what_they_are(device: str) -> None:
    {{ x }} = torch.tensor([[-0.0, 0.0, -0.0, -1.0]], dtype=DTYPES[0], device=device)
    {{ values }}, {{ indices }} = {{ name }}({{ x }}, 3)
    assert {{ indices }}.tolist() == [[0, 1, 2]]
    assert torch.signbit({{ values }}).tolist() == [[True, False, True]]


@pytest.mark.parametrize("cols", [64, 4096])
def test_rows_at_any_place_and_pitch(cols: int, device: str) -> None:
    {{ x }} = _random(3, cols, device=device)
    for moved in _elsewhere({{ x }}):
        _check({{ name }}(moved, 5), {{ x }}, 5)


def test_results_go_where_they_are_wanted(device: str) -> None:
    {{ x }} = _random(3, 50, device=device)
    {{ values }} = torch.empty(3, 9, dtype={{ x }}.dtype, device=device)[:, :6]
    {{ indices }} = torch.empty(3, 8, dtype=torch.int32, device=device)[:, 1:7]
    result = {{ name }}({{ x }}, 6, {{ values }}={{ values }}, {{ indices }}={{ indices }})
    assert result[0] is {{ values }}
    assert result[1] is {{ indices }}
    _check(result, {{ x }}, 6)


@pytest.mark.parametrize(("rows", "k"), [(0, 3), (4, 0)])
def test_nothing_to_choose_is_no_work(rows: int, k: int, device: str) -> None:
    {{ values }}, {{ indices }} = {{ name }}(_random(rows, 16, device=device), k)
    assert {{ values }}.shape == {{ indices }}.shape == (rows, k)


@pytest.mark.parametrize(("cols", "k"), [(8, -1), (8, 9), (0, 1), (4096, 2049)])
def test_another_k_is_refused(cols: int, k: int, device: str) -> None:
    with pytest.raises(ValueError, match=rf"{{ name }}: argument 'k' is {k}"):
        {{ name }}(_random(2, cols, device=device), k)


{{ refusals("4", 16) }}

{{ on_a_gpu("4", 50_000) }}
