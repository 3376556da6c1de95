{% from "_macros/matrix_tests.jinja" import opening, placed, refusals, on_a_gpu, x with context %}
{% set weights, ids = outputs[0].name, outputs[1].name %}
{{ opening("numbers of experts, equal ones, groups, NaN, places in memory, refusals", typing=["from typing import Any"]) }}
Result = tuple[torch.Tensor, torch.Tensor]
USUAL = {
    "groups": 1,
    "top_groups": 1,
    "sigmoid": False,
    "renormalize": True,
    "scale": 1.0,
    "bias": None,
}


def _random(rows: int, cols: int, dtype: torch.dtype = DTYPES[0], *, device: str) -> torch.Tensor:
    return torch.randn(rows, cols, device=device).to(dtype)


def _routed(x: torch.Tensor, top_k: int, **options: Any) -> Result:
    return {{ name }}(x, top_k, **{**USUAL, **options})


{{ placed() }}


def _check(result: Result, x: torch.Tensor, top_k: int, **options: Any) -> None:
    given = {**USUAL, **options}
    judge = trace.judge
    assert judge is not None
    results = dict(zip(trace.outputs, result, strict=True))
    judge({"{{ x }}": x, "top_k": top_k, **given}, results)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 7, 8, 33, 64, 72, 128, 160, 257, 384, 512, 1000, 1024])
def test_any_number_of_experts(count: int, dtype: torch.dtype, device: str) -> None:
    {{ x }} = _random(5, count, dtype, device=device)
    for top_k in {1, min(8, count)}:
        for sigmoid in (False, True):
            _check(_routed({{ x }}, top_k, sigmoid=sigmoid), {{ x }}, top_k, sigmoid=sigmoid)


@pytest.mark.parametrize("top_k", [1, 2, 31, 32])
@pytest.mark.parametrize("renormalize", [False, True])
def test_any_number_of_chosen(top_k: int, renormalize: bool, device: str) -> None:
    {{ x }} = _random(6, 40, device=device)
    options = {"renormalize": renormalize, "scale": 2.5}
    _check(_routed({{ x }}, top_k, **options), {{ x }}, top_k, **options)


def test_weights_have_the_sum_that_is_asked_for(device: str) -> None:
    {{ x }} = _random(4, 40, device=device)
    assert torch.allclose(_routed({{ x }}, 6)[0].sum(-1), torch.ones(4, device=device))
    scaled = _routed({{ x }}, 6, sigmoid=True, scale=2.5)[0]
    assert torch.allclose(scaled.sum(-1), torch.full((4,), 2.5, device=device))
    assert bool((_routed({{ x }}, 6, renormalize=False)[0].sum(-1) < 1).all())


def test_a_bias_changes_the_choice_but_not_the_weights(device: str) -> None:
    {{ x }} = _random(7, 24, device=device)
    bias = torch.zeros(24, device=device)
    bias[5] = 2.0
    options = {"sigmoid": True, "renormalize": False, "bias": bias}
    {{ weights }}, {{ ids }} = _routed({{ x }}, 3, **options)
    assert bool(({{ ids }}[:, 0] == 5).all())
    assert torch.allclose({{ weights }}[:, 0], {{ x }}[:, 5].float().sigmoid())
    _check(({{ weights }}, {{ ids }}), {{ x }}, 3, **options)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(
    ("count", "groups", "top_groups"), [(16, 4, 2), (96, 3, 1), (60, 20, 7), (32, 32, 9)]
)
def test_only_the_best_groups_are_chosen_from(
    count: int, groups: int, top_groups: int, biased: bool, device: str
) -> None:
    {{ x }} = _random(9, count, device=device)
    bias = torch.randn(count, device=device) if biased else None
    top_k = min(8, top_groups * count // groups)
    options = {"groups": groups, "top_groups": top_groups, "sigmoid": biased, "bias": bias}
    result = _routed({{ x }}, top_k, **options)
    _check(result, {{ x }}, top_k, **options)
    for row in result[1].tolist():
        assert len({expert // (count // groups) for expert in row}) <= top_groups


def test_with_a_bias_a_group_is_as_good_as_its_best_two(device: str) -> None:
    {{ x }} = torch.tensor([[4.0, -9.0, 2.0, 2.0]], device=device).to(DTYPES[0])
    bias = torch.zeros(4, device=device)
    options = {"groups": 2, "sigmoid": True}
    assert _routed({{ x }}, 2, **options)[1].tolist() == [[0, 1]]
    assert _routed({{ x }}, 2, **options, bias=bias)[1].tolist() == [[2, 3]]


@pytest.mark.parametrize("count", [8, 33, 256])
def test_of_equal_experts_the_first_are_chosen(count: int, device: str) -> None:
    {{ x }} = torch.ones(3, count, dtype=DTYPES[0], device=device)
    for bias in (None, torch.ones(count, device=device)):
        {{ weights }}, {{ ids }} = _routed({{ x }}, 4, bias=bias)
        assert {{ ids }}.tolist() == [[0, 1, 2, 3]] * 3
        assert torch.allclose({{ weights }}, torch.full_like({{ weights }}, 0.25))
    if count % 4 == 0:
        assert _routed({{ x }}, 2, groups=4, top_groups=2)[1].tolist() == [[0, 1]] * 3


def test_minus_infinity_takes_an_expert_out(device: str) -> None:
    {{ x }} = _random(4, 16, device=device)
    {{ x }}[:, ::2] = -torch.inf
    for sigmoid in (False, True):
        {{ weights }}, {{ ids }} = _routed({{ x }}, 10, sigmoid=sigmoid)
        assert bool(({{ ids }}[:, :8] % 2 == 1).all())
        assert not bool({{ weights }}[:, 8:].any())
        _check(({{ weights }}, {{ ids }}), {{ x }}, 10, sigmoid=sigmoid)


def test_a_nan_stays_in_its_token(device: str) -> None:
    {{ x }} = _random(3, 20, device=device)
    {{ x }}[1, 6] = torch.nan
    for options in ({}, {"bias": torch.zeros(20, device=device)}, {"groups": 4, "top_groups": 2}):
        {{ weights }}, {{ ids }} = _routed({{ x }}, 5, **options)
        assert {{ weights }}.isnan().any(-1).tolist() == [False, True, False]
        _check(({{ weights }}, {{ ids }}), {{ x }}, 5, **options)
    assert int(_routed({{ x }}, 5, sigmoid=True)[1][1, 0]) == 6


def test_large_logits_do_not_overflow(device: str) -> None:
    {{ x }} = _random(3, 20, device=device) * 1000
    for sigmoid in (False, True):
        result = _routed({{ x }}, 5, sigmoid=sigmoid)
        assert bool(result[0].isfinite().all())
        _check(result, {{ x }}, 5, sigmoid=sigmoid)


@pytest.mark.parametrize("count", [16, 256])
def test_rows_at_any_place_and_pitch(count: int, device: str) -> None:
    {{ x }} = _random(5, count, device=device)
    for moved in _elsewhere({{ x }}):
        _check(_routed(moved, 3), {{ x }}, 3)


@pytest.mark.parametrize(("tokens", "top_k"), [(0, 3), (4, 0)])
def test_nothing_to_choose_is_no_work(tokens: int, top_k: int, device: str) -> None:
    {{ weights }}, {{ ids }} = _routed(_random(tokens, 16, device=device), top_k)
    assert {{ weights }}.shape == {{ ids }}.shape == (tokens, top_k)


@pytest.mark.parametrize(
    ("top_k", "options", "argument"),
    [
        (-1, {}, "top_k"),
        (33, {}, "top_k"),
        (65, {}, "top_k"),
        (17, {"groups": 4}, "top_k"),
        (2, {"groups": 0}, "groups"),
        (2, {"groups": 7}, "groups"),
        (1, {"groups": 64, "top_groups": 64}, "groups"),
        (2, {"groups": 4, "top_groups": 0}, "top_groups"),
        (2, {"groups": 4, "top_groups": 5}, "top_groups"),
    ],
)
def test_what_cannot_be_chosen_is_refused(
    top_k: int, options: dict[str, Any], argument: str, device: str
) -> None:
    with pytest.raises(ValueError, match=rf"{{ name }}: argument '{argument}' is "):
        _routed(_random(2, 64, device=device), top_k, **options)


def test_more_experts_than_there_is_room_for_are_refused(device: str) -> None:
    with pytest.raises(ValueError, match=r"{{ name }}: argument '{{ x }}' is for 1025 experts"):
        _routed(_random(2, 1025, device=device), 2)


def test_a_bias_that_does_not_fit_is_refused(device: str) -> None:
    {{ x }} = _random(2, 16, device=device)
    with pytest.raises(ValueError, match=r"{{ name }}: argument 'bias' has shape \(15,\)"):
        _routed({{ x }}, 2, bias=torch.zeros(15, device=device))
    with pytest.raises(TypeError, match=r"{{ name }}: argument 'bias' has dtype float16"):
        _routed({{ x }}, 2, bias=torch.zeros(16, device=device).half())


{{ refusals("4", 16) }}

{{ on_a_gpu("4", 128) }}
