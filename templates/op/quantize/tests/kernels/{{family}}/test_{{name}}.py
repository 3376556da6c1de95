{% from "_macros/matrix_tests.jinja" import opening, placed, refusals, on_a_gpu, x with context %}
{% set q, scales = outputs[0].name, outputs[1].name %}
{% set to = parse_dtype(outputs[0].dtype) %}
{{ opening("edges of groups, what comes back, NaN, places in memory, refusals", ["from fictl.testing import assert_close"]) }}
LARGEST = {{ {"e4m3": "448.0", "e5m2": "57344.0", "i8": "127.0"}[to.short] }}
{% if to.short == "i8" %}
STEP = 0.5 / LARGEST  # half of one, of the largest of a group
{% else %}
STEP = {{ {"e4m3": "1 / 16", "e5m2": "1 / 8"}[to.short] }}  # half of the last place, relative
{% endif %}
Result = tuple[torch.Tensor, torch.Tensor]


def _random(rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str) -> torch.Tensor:
    return torch.randn(rows, cols, device=device).to(dtype)


{{ placed() }}


def _check(result: Result, x: torch.Tensor, group_size: int) -> None:
    """Against the reference, in fp64."""
    expected = trace.reference(x.double(), group_size)
    for value, exact, name in zip(result, expected, trace.outputs, strict=True):
        assert_close(value, exact, name, trace.tolerances)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group_size", [1, 2, 7, 8, 32, 100, 128, 255, 264, 1000])
def test_any_length_of_a_group(group_size: int, dtype: torch.dtype, device: str) -> None:
    {{ x }} = _random(3, 2 * group_size, dtype, device=device)
    _check({{ name }}({{ x }}, group_size), {{ x }}, group_size)


@pytest.mark.parametrize("cols", [4097, 8192, 8200, 20_001])
def test_rows_at_and_beyond_what_a_block_holds(cols: int, device: str) -> None:
    for dtype in (DTYPES[0], DTYPES[-1]):
        {{ x }} = _random(1, cols, dtype, device=device)
        _check({{ name }}({{ x }}, cols), {{ x }}, cols)


@pytest.mark.parametrize("rows", [1, 15, 16, 17])
def test_any_number_of_rows(rows: int, device: str) -> None:
    {{ x }} = _random(rows, 384, device=device)
    _check({{ name }}({{ x }}, 128), {{ x }}, 128)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
def test_what_is_scaled_back_is_near(size: float, device: str) -> None:
    {{ x }} = (_random(4, 256, device=device).float() * size).to(DTYPES[0])
    {{ q }}, {{ scales }} = {{ name }}({{ x }}, 64)
    factors = {{ scales }}.repeat_interleave(64, dim=1)
    largest = factors * LARGEST
    wrong = ({{ q }}.float() * factors - {{ x }}.float()).abs()
{% if to.short == "i8" %}
    assert bool((wrong <= 1.01 * STEP * largest).all())
{% else %}
    assert bool((wrong <= 1.01 * STEP * {{ x }}.float().abs() + 1e-5 * largest).all())
{% endif %}


def test_the_largest_of_a_group_is_the_largest_number(device: str) -> None:
    {{ q }}, _ = {{ name }}(_random(5, 96, device=device), 32)
    most = {{ q }}.float().abs().view(5, 3, 32).amax(-1)
    assert bool((most == LARGEST).all())


def test_zeros_stay_zeros(device: str) -> None:
    {{ q }}, {{ scales }} = {{ name }}(torch.zeros(3, 64, dtype=DTYPES[0], device=device), 16)
    assert not bool({{ q }}.float().any())
    assert bool(({{ scales }} > 0).all())


def test_nan_and_infinity_spoil_their_group_alone(device: str) -> None:
    {{ x }} = _random(1, 96, device=device)
    {{ x }}[0, 3], {{ x }}[0, 40] = torch.nan, -torch.inf
    {{ q }}, {{ scales }} = {{ name }}({{ x }}, 32)
    assert bool({{ scales }}[0, 0].isnan())
    assert bool({{ scales }}[0, 1].isinf())
    back = {{ q }}.float() * {{ scales }}.repeat_interleave(32, dim=1)
    assert bool(back[:, :32].isnan().all())
    assert bool(back[0, 40].isnan())
    assert bool(back[:, 64:].isfinite().all())
    _check(({{ q }}, {{ scales }}), {{ x }}, 32)


@pytest.mark.parametrize("group_size", [128, 1600])
def test_rows_at_any_place_and_pitch(group_size: int, device: str) -> None:
    {{ x }} = _random(3, 1600 if group_size == 1600 else 256, device=device)
    for moved in _elsewhere({{ x }}):
        _check({{ name }}(moved, group_size), {{ x }}, group_size)


def test_results_go_where_they_are_wanted(device: str) -> None:
    {{ x }} = _random(3, 256, device=device)
    whole = torch.zeros(3, 300, device=device).to(torch.{{ to.name }})
    for start in (0, 1):
        {{ q }} = whole[:, start : start + 256]
        result = {{ name }}({{ x }}, 64, {{ q }}={{ q }})
        assert result[0] is {{ q }}
        _check(result, {{ x }}, 64)


@pytest.mark.parametrize(("rows", "cols"), [(0, 16), (4, 0)])
def test_nothing_to_quantize_is_no_work(rows: int, cols: int, device: str) -> None:
    {{ q }}, {{ scales }} = {{ name }}(_random(rows, cols, device=device), 8)
    assert {{ q }}.shape == (rows, cols)
    assert {{ scales }}.shape == (rows, cols // 8)


@pytest.mark.parametrize("group_size", [-8, 0, 3, 32])
def test_groups_that_do_not_make_a_row_are_refused(group_size: int, device: str) -> None:
    with pytest.raises(ValueError, match=rf"{{ name }}: argument 'group_size' is {group_size}"):
        {{ name }}(_random(2, 16, device=device), group_size)


{{ refusals("8", 16) }}

{{ on_a_gpu("128", 4096) }}
