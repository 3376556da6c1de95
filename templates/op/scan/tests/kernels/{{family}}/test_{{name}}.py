{% from "_macros/matrix_tests.jinja" import opening, placed, refusals, on_a_gpu, x with context %}
{% set out = outputs[0].name %}
{% set integers = dtypes | selectattr("short", "in", ["i32", "i64"]) | list %}
{{ opening("edges of tiles and pieces, NaN, sums in place, places in memory, refusals", ["from fictl.testing import assert_close"]) }}
PIECE = 32 * 1024 // DTYPES[0].itemsize


def _random(rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str) -> torch.Tensor:
{% if integers %}
    return torch.randint(-9, 10, (rows, cols), device=device).to(dtype)
{% else %}
    return torch.randn(rows, cols, device=device).to(dtype)
{% endif %}


{{ placed() }}


def _check(result: torch.Tensor, x: torch.Tensor, exclusive: bool) -> None:
    """Against the reference, in fp64."""
    exact = x.double() if x.is_floating_point() else x
    assert_close(result, trace.reference(exact, exclusive), tolerances=trace.tolerances)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 7, 8, 33, 128, 129, 1000, 1024, 1032, 2056])
def test_any_length_of_a_row(cols: int, dtype: torch.dtype, exclusive: bool, device: str) -> None:
    {{ x }} = _random(5, cols, dtype, device=device)
    _check({{ name }}({{ x }}, exclusive), {{ x }}, exclusive)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("cols", [PIECE, PIECE + 1, 2 * PIECE + 40])
def test_long_rows_in_pieces(cols: int, exclusive: bool, device: str) -> None:
    {{ x }} = _random(1, cols, device=device)
    _check({{ name }}({{ x }}, exclusive), {{ x }}, exclusive)


def test_many_rows_give_what_a_few_do_bit_by_bit(device: str) -> None:
    {{ x }} = _random(1, PIECE + 16, device=device)
    alone = {{ name }}({{ x }}, False)
    # So many rows are not spread over the GPU in pieces.
    together = {{ name }}({{ x }}.expand(600 if {{ x }}.is_cuda else 40, -1), False)
    assert torch.equal(together, alone.expand_as(together))
{% if dtypes[0].name.startswith(("float", "bfloat")) %}


@pytest.mark.parametrize("cols", [100, 5000])
def test_nan_and_infinity_begin_at_their_place(cols: int, device: str) -> None:
    {{ x }} = torch.ones(3, cols, dtype=DTYPES[0], device=device)
    {{ x }}[0, 70], {{ x }}[1, 41], {{ x }}[1, 90] = torch.nan, torch.inf, -torch.inf
    for exclusive in (False, True):
        result = {{ name }}({{ x }}, exclusive)
        assert int(result[0].isfinite().sum()) == 70 + exclusive
        assert int(result[1].isfinite().sum()) == 41 + exclusive
        assert int(result[1].isinf().sum()) == 90 - 41
        assert bool(result[2].isfinite().all())
{% endif %}
{% if integers %}


def test_integers_wrap(device: str) -> None:
    dtype = torch.{{ integers[0].name }}
    most = torch.iinfo(dtype).max
    {{ x }} = torch.tensor([[most, 1, most]], dtype=dtype, device=device)
    assert {{ name }}({{ x }}, False).tolist() == [[most, -most - 1, -1]]
{% endif %}


@pytest.mark.parametrize("cols", [96, 2 * PIECE])
def test_it_may_be_in_place(cols: int, device: str) -> None:
    {{ x }} = _random(3, cols, device=device)
    expected = {{ name }}({{ x }}, True)
    assert {{ name }}({{ x }}, True, {{ out }}={{ x }}) is {{ x }}
    assert torch.equal({{ x }}, expected)


@pytest.mark.parametrize("cols", [64, 1600])
def test_rows_at_any_place_and_pitch(cols: int, device: str) -> None:
    {{ x }} = _random(3, cols, device=device)
    for moved in _elsewhere({{ x }}):
        _check({{ name }}(moved, False), {{ x }}, False)
    {{ out }} = _at_pitch({{ x }}, 3)
    assert {{ name }}({{ x }}, False, {{ out }}={{ out }}) is {{ out }}
    _check({{ out }}, {{ x }}, False)


@pytest.mark.parametrize(("rows", "cols"), [(0, 16), (4, 0), (0, 0)])
def test_nothing_to_sum_is_no_work(rows: int, cols: int, device: str) -> None:
    for exclusive in (False, True):
        assert {{ name }}(_random(rows, cols, device=device), exclusive).shape == (rows, cols)


{{ refusals("False", 16) }}

{{ on_a_gpu("False", 50_000) }}
