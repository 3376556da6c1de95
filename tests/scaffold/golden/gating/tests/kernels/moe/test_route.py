"""What the trace of route cannot say: numbers of experts, equal ones, groups, NaN, places in memory, refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from my_kernels.moe.route.op import route
from my_kernels.moe.route.trace import route as trace

DTYPES = (torch.float16, torch.bfloat16, torch.float32)

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
    return route(x, top_k, **{**USUAL, **options})


def _at_pitch(x: torch.Tensor, gap: int) -> torch.Tensor:
    """The same with so many elements between its rows."""
    whole = torch.zeros(*x.shape[:-1], x.shape[-1] + gap, device=x.device).to(x.dtype)
    return whole[..., : x.shape[-1]].copy_(x)


def _misaligned(x: torch.Tensor, offset: int) -> torch.Tensor:
    """The same, so many elements behind an aligned place."""
    memory = torch.zeros(offset + x.numel(), device=x.device).to(x.dtype)
    return memory[offset:].view(x.shape).copy_(x)


def _elsewhere(x: torch.Tensor) -> list[torch.Tensor]:
    """The same, aligned to less than a vector, and with rows apart."""
    return [_misaligned(x, 1), _misaligned(x, 4), _at_pitch(x, 1), _at_pitch(x, 16)]


def _check(result: Result, x: torch.Tensor, top_k: int, **options: Any) -> None:
    given = {**USUAL, **options}
    judge = trace.judge
    assert judge is not None
    results = dict(zip(trace.outputs, result, strict=True))
    judge({"logits": x, "top_k": top_k, **given}, results)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 2, 7, 8, 33, 64, 72, 128, 160, 257, 384, 512, 1000, 1024])
def test_any_number_of_experts(count: int, dtype: torch.dtype, device: str) -> None:
    logits = _random(5, count, dtype, device=device)
    for top_k in {1, min(8, count)}:
        for sigmoid in (False, True):
            _check(_routed(logits, top_k, sigmoid=sigmoid), logits, top_k, sigmoid=sigmoid)


@pytest.mark.parametrize("top_k", [1, 2, 31, 32])
@pytest.mark.parametrize("renormalize", [False, True])
def test_any_number_of_chosen(top_k: int, renormalize: bool, device: str) -> None:
    logits = _random(6, 40, device=device)
    options = {"renormalize": renormalize, "scale": 2.5}
    _check(_routed(logits, top_k, **options), logits, top_k, **options)


def test_weights_have_the_sum_that_is_asked_for(device: str) -> None:
    logits = _random(4, 40, device=device)
    assert torch.allclose(_routed(logits, 6)[0].sum(-1), torch.ones(4, device=device))
    scaled = _routed(logits, 6, sigmoid=True, scale=2.5)[0]
    assert torch.allclose(scaled.sum(-1), torch.full((4,), 2.5, device=device))
    assert bool((_routed(logits, 6, renormalize=False)[0].sum(-1) < 1).all())


def test_a_bias_changes_the_choice_but_not_the_weights(device: str) -> None:
    logits = _random(7, 24, device=device)
    bias = torch.zeros(24, device=device)
    bias[5] = 2.0
    options = {"sigmoid": True, "renormalize": False, "bias": bias}
    weights, ids = _routed(logits, 3, **options)
    assert bool((ids[:, 0] == 5).all())
    assert torch.allclose(weights[:, 0], logits[:, 5].float().sigmoid())
    _check((weights, ids), logits, 3, **options)


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(
    ("count", "groups", "top_groups"), [(16, 4, 2), (96, 3, 1), (60, 20, 7), (32, 32, 9)]
)
def test_only_the_best_groups_are_chosen_from(
    count: int, groups: int, top_groups: int, biased: bool, device: str
) -> None:
    logits = _random(9, count, device=device)
    bias = torch.randn(count, device=device) if biased else None
    top_k = min(8, top_groups * count // groups)
    options = {"groups": groups, "top_groups": top_groups, "sigmoid": biased, "bias": bias}
    result = _routed(logits, top_k, **options)
    _check(result, logits, top_k, **options)
    for row in result[1].tolist():
        assert len({expert // (count // groups) for expert in row}) <= top_groups


def test_with_a_bias_a_group_is_as_good_as_its_best_two(device: str) -> None:
    logits = torch.tensor([[4.0, -9.0, 2.0, 2.0]], device=device).to(DTYPES[0])
    bias = torch.zeros(4, device=device)
    options = {"groups": 2, "sigmoid": True}
    assert _routed(logits, 2, **options)[1].tolist() == [[0, 1]]
    assert _routed(logits, 2, **options, bias=bias)[1].tolist() == [[2, 3]]


@pytest.mark.parametrize("count", [8, 33, 256])
def test_of_equal_experts_the_first_are_chosen(count: int, device: str) -> None:
    logits = torch.ones(3, count, dtype=DTYPES[0], device=device)
    for bias in (None, torch.ones(count, device=device)):
        weights, ids = _routed(logits, 4, bias=bias)
        assert ids.tolist() == [[0, 1, 2, 3]] * 3
        assert torch.allclose(weights, torch.full_like(weights, 0.25))
    if count % 4 == 0:
        assert _routed(logits, 2, groups=4, top_groups=2)[1].tolist() == [[0, 1]] * 3


def test_minus_infinity_takes_an_expert_out(device: str) -> None:
    logits = _random(4, 16, device=device)
    logits[:, ::2] = -torch.inf
    for sigmoid in (False, True):
        weights, ids = _routed(logits, 10, sigmoid=sigmoid)
        assert bool((ids[:, :8] % 2 == 1).all())
        assert not bool(weights[:, 8:].any())
        _check((weights, ids), logits, 10, sigmoid=sigmoid)


def test_a_nan_stays_in_its_token(device: str) -> None:
    logits = _random(3, 20, device=device)
    logits[1, 6] = torch.nan
    for options in ({}, {"bias": torch.zeros(20, device=device)}, {"groups": 4, "top_groups": 2}):
        weights, ids = _routed(logits, 5, **options)
        assert weights.isnan().any(-1).tolist() == [False, True, False]
        _check((weights, ids), logits, 5, **options)
    assert int(_routed(logits, 5, sigmoid=True)[1][1, 0]) == 6


def test_large_logits_do_not_overflow(device: str) -> None:
    logits = _random(3, 20, device=device) * 1000
    for sigmoid in (False, True):
        result = _routed(logits, 5, sigmoid=sigmoid)
        assert bool(result[0].isfinite().all())
        _check(result, logits, 5, sigmoid=sigmoid)


@pytest.mark.parametrize("count", [16, 256])
def test_rows_at_any_place_and_pitch(count: int, device: str) -> None:
    logits = _random(5, count, device=device)
    for moved in _elsewhere(logits):
        _check(_routed(moved, 3), logits, 3)


@pytest.mark.parametrize(("tokens", "top_k"), [(0, 3), (4, 0)])
def test_nothing_to_choose_is_no_work(tokens: int, top_k: int, device: str) -> None:
    weights, ids = _routed(_random(tokens, 16, device=device), top_k)
    assert weights.shape == ids.shape == (tokens, top_k)


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
    with pytest.raises(ValueError, match=rf"route: argument '{argument}' is "):
        _routed(_random(2, 64, device=device), top_k, **options)


def test_more_experts_than_there_is_room_for_are_refused(device: str) -> None:
    with pytest.raises(ValueError, match=r"route: argument 'logits' is for 1025 experts"):
        _routed(_random(2, 1025, device=device), 2)


def test_a_bias_that_does_not_fit_is_refused(device: str) -> None:
    logits = _random(2, 16, device=device)
    with pytest.raises(ValueError, match=r"route: argument 'bias' has shape \(15,\)"):
        _routed(logits, 2, bias=torch.zeros(15, device=device))
    with pytest.raises(TypeError, match=r"route: argument 'bias' has dtype float16"):
        _routed(logits, 2, bias=torch.zeros(16, device=device).half())


def test_rows_that_are_not_contiguous_are_refused(device: str) -> None:
    logits = _random(16, 16, device=device).t()
    with pytest.raises(ValueError, match=r"route: .*'logits'.*\.contiguous\(\)"):
        route(logits, 4)


def test_another_number_of_dimensions_is_refused_by_name(device: str) -> None:
    logits = _random(4, 16, device=device)[None]
    with pytest.raises(ValueError, match=r"route: .*'logits' has shape .*2-dimensional"):
        route(logits, 4)


def test_an_unsupported_dtype_names_the_accepted_ones(device: str) -> None:
    logits = _random(4, 16, device=device).to(torch.int16)
    with pytest.raises(TypeError, match=r"route: .*'logits'.*int16.*float16"):
        route(logits, 4)


def test_another_shape_or_dtype_of_weights_is_refused_by_name(device: str) -> None:
    logits = _random(4, 16, device=device)
    right = route(logits, 4)[0]
    with pytest.raises(ValueError, match=r"route: .*'weights' has shape"):
        route(logits, 4, weights=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"route: .*'weights'.*int16"):
        route(logits, 4, weights=right.to(torch.int16))


def test_another_shape_or_dtype_of_ids_is_refused_by_name(device: str) -> None:
    logits = _random(4, 16, device=device)
    right = route(logits, 4)[1]
    with pytest.raises(ValueError, match=r"route: .*'ids' has shape"):
        route(logits, 4, ids=torch.cat([right, right], dim=-1))
    with pytest.raises(TypeError, match=r"route: .*'ids'.*int16"):
        route(logits, 4, ids=right.to(torch.int16))


@pytest.mark.needs_gpu
def test_the_current_stream_is_used() -> None:
    logits, later = (_random(256, 128, device="cuda") for _ in range(2))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        logits.copy_(later)
        result = route(logits, 4)
    stream.synchronize()
    _check(result, later, 4)


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it() -> None:
    logits, later = (_random(4, 128, device="cuda") for _ in range(2))
    result = route(logits, 4)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        route(logits, 4, weights=result[0], ids=result[1])
    logits.copy_(later)
    graph.replay()
    torch.cuda.synchronize()
    _check(result, later, 4)
