"""What the traces of from_probs cannot say: which token a number draws, borders, distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from fictl.kernels.sampling.from_probs.op import (
    min_p_sampling_from_probs,
    sampling_from_probs,
    top_k_sampling_from_probs,
    top_k_top_p_sampling_from_probs,
    top_p_sampling_from_probs,
)
from fictl.op import uniforms

from .statistics import (
    KINDS,
    assert_drawn_from,
    kept_joint,
    kept_min_p,
    kept_top_k,
    kept_top_k_first,
    kept_top_p,
    make_row,
    renormalised,
)

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
NAN, INF = math.nan, math.inf
VOCABS = (1, 2, 3, 111, 512, 513, 2051)
MODELS = (32003, 128256, 151936)
Draw = Callable[..., Any]
Keep = Callable[[torch.Tensor], torch.Tensor]

joint = partial(top_k_top_p_sampling_from_probs, filter_apply_order="joint")
# How to draw, and what is kept of the rows then.
METHODS: dict[str, tuple[Draw, Keep]] = {
    "all": (sampling_from_probs, lambda x: x > 0),
    "top_p": (partial(top_p_sampling_from_probs, top_p=0.8), lambda x: kept_top_p(x, 0.8)),
    "top_k": (partial(top_k_sampling_from_probs, top_k=40), lambda x: kept_top_k(x, 40)),
    "min_p": (partial(min_p_sampling_from_probs, min_p=0.1), lambda x: kept_min_p(x, 0.1)),
    "joint": (partial(joint, top_k=60, top_p=0.7), lambda x: kept_joint(x, 60, 0.7)),
    "top_k_first": (
        partial(top_k_top_p_sampling_from_probs, top_k=60, top_p=0.7),
        lambda x: kept_top_k_first(x, 60, 0.7),
    ),
}
every_method = pytest.mark.parametrize("method", METHODS)


def _rows(vocab: int, device: str) -> torch.Tensor:
    return torch.stack([make_row(kind, vocab, device) for kind in KINDS])


def _check(tokens: torch.Tensor, probs: torch.Tensor, kept: torch.Tensor, seed: Any) -> None:
    """The number of each row falls on its token, but for the rounding of sums in fp32."""
    rounding = 3e-6
    assert bool(((tokens >= 0) & (tokens < probs.shape[1])).all())
    until = renormalised(probs, kept).cumsum(-1)
    drawn = uniforms(len(tokens), 1, seed, 0, probs.device)
    at = tokens[:, None].long()
    first, last = (torch.nn.functional.pad(until, (1, 0)).gather(1, at + i) for i in (0, 1))
    assert bool(((first - rounding <= drawn) & (drawn <= last + rounding)).all())
    assert bool(kept.gather(1, at).all())


@every_method
@pytest.mark.parametrize("vocab", VOCABS)
def test_a_number_draws_the_token_that_it_falls_on(vocab: int, method: str, device: str) -> None:
    draw, keep = METHODS[method]
    probs = _rows(vocab, device)
    for seed in range(2):
        _check(draw(probs, seed=seed, offset=0), probs, keep(probs), seed)


@every_method
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_drawn_from_as_they_are(
    dtype: torch.dtype, method: str, device: str
) -> None:
    draw, keep = METHODS[method]
    probs = _rows(600, device).to(dtype)
    # Their sums are no longer 1; what top_p is a part of is.
    _check(draw(probs, seed=1, offset=0), probs, keep(probs.double()), 1)


@pytest.mark.parametrize("p", [0.0, 0.25, 0.5, 0.999999, 1.0, 1.5, -1.0])
@pytest.mark.parametrize("vocab", [4, 700])
def test_borders_of_top_p(vocab: int, p: float, device: str) -> None:
    # Powers of two, whose sums are exact: it is a border that p falls on.
    probs = torch.full((3, vocab), 1 / 1024, device=device)
    probs[:, 1:3] = 0.25
    probs[1] = 1 / vocab if vocab == 4 else 1 / 1024
    kept = probs > 0 if p >= 1 else kept_top_p(probs, p)
    for seed in range(3):
        _check(top_p_sampling_from_probs(probs, p, seed=seed, offset=0), probs, kept, seed)


@pytest.mark.parametrize("k", [-1, 0, 1, 2, 5, 699, 700, 701, 2**40])
def test_borders_of_top_k(k: int, device: str) -> None:
    probs = _rows(700, device)
    kept = kept_top_k(probs, k) if k > 0 else probs > 0
    limits = torch.full((len(probs),), k, device=device)
    for limit in (k, limits) if k < 2**31 else (k,):
        _check(top_k_sampling_from_probs(probs, limit, seed=1, offset=0), probs, kept, 1)


@pytest.mark.parametrize("p", [-1.0, 0.0, 0.5, 1.0, 2.0])
def test_borders_of_min_p(p: float, device: str) -> None:
    probs = _rows(700, device)
    _check(min_p_sampling_from_probs(probs, p, seed=1, offset=0), probs, kept_min_p(probs, p), 1)


def test_each_row_has_limits_of_its_own(device: str) -> None:
    probs = _rows(300, device)
    k = torch.tensor([1, 3, 0, 300, 7, 50], device=device, dtype=torch.int32)
    p = torch.tensor([0.5, 0.1, 1.0, 0.9, 0.3, 0.7], device=device)
    tokens = top_k_top_p_sampling_from_probs(probs, k, p, seed=9, offset=0)
    kept = torch.cat(
        [kept_top_k_first(row[None], int(k[i]) or 300, float(p[i])) for i, row in enumerate(probs)]
    )
    _check(tokens, probs, kept, 9)
    halves = p.half()
    assert top_p_sampling_from_probs(probs, halves, seed=1, offset=0).shape == (6,)


def test_values_far_apart(device: str) -> None:
    """The k-th is below all that the first histogram looks at; the sum is not 1."""
    probs = torch.full((2, 900), 1e-30, device=device)
    probs[:, 7], probs[:, 8] = 3e6, 1e-20
    probs[1, 7] = 1e-3
    kept = kept_top_k(probs, 2)
    tokens = top_k_sampling_from_probs(probs, 2, seed=0, offset=0)
    assert bool(kept.gather(1, tokens[:, None].long()).all())
    valid = top_k_sampling_from_probs(probs, 500, seed=0, offset=0, return_valid=True)[1]
    assert valid.tolist() == [True, True]


def test_more_equals_than_there_is_room_for_candidates(device: str) -> None:
    probs = torch.full((1, 9000), 1e-4, device=device)
    probs[0, ::3] = 1.00001e-4
    for method in ("top_k", "top_p"):
        draw, keep = METHODS[method]
        _check(draw(probs, seed=4, offset=0), probs, keep(probs), 4)


@every_method
def test_what_is_no_probability(method: str, device: str) -> None:
    draw, _ = METHODS[method]
    probs = torch.zeros(5, 600, device=device)
    probs[1, 5], probs[1, 9] = NAN, 0.5
    probs[2, 5], probs[2, 599] = -3.0, 0.25
    probs[3] = NAN
    probs[4, 77] = INF
    tokens, valid = draw(probs, seed=2, offset=0, return_valid=True)
    assert tokens.tolist() == [0, 9, 599, 0, 77]
    assert valid.tolist() == [False, True, True, False, True]


@every_method
def test_nan_is_refused_where_that_is_asked_for(method: str, device: str) -> None:
    probs = torch.ones(3, 20, device=device)
    METHODS[method][0](probs, check_nan=True)
    probs[1, 3] = NAN
    with pytest.raises(ValueError, match=r"argument 'probs' has NaN in the rows \[1\]"):
        METHODS[method][0](probs, check_nan=True)


@every_method
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_several_draws_from_a_row(dtype: torch.dtype, method: str, device: str) -> None:
    draw, keep = METHODS[method]
    probs = _rows(200, device)
    which = torch.tensor([3, 3, 0, 5, 1, 3, 4], dtype=dtype, device=device)
    tokens = draw(probs, indices=which, seed=6, offset=0)
    assert tokens.dtype is dtype
    _check(tokens, probs[which.long()], keep(probs[which.long()]), 6)


def test_a_row_that_is_none_draws_nothing(device: str) -> None:
    which = torch.tensor([-1, 1, 2], device=device)
    probs = torch.tensor([[0.0, 1.0], [0.0, 1.0]], device=device)
    tokens, valid = sampling_from_probs(probs, which, return_valid=True)
    assert (tokens.tolist(), valid.tolist()) == ([0, 1, 0], [False, True, False])


@every_method
def test_a_draw_with_its_own_seed_is_the_same_wherever_it_is(method: str, device: str) -> None:
    draw = METHODS[method][0]
    probs = _rows(1200, device)
    seed = torch.arange(90, 96, device=device)
    offset = torch.tensor([0, 4, 9, 1, 2, 77], device=device)
    tokens = draw(probs, seed=seed, offset=offset)
    order = torch.tensor([5, 0, 3, 1, 4, 2], device=device)
    assert torch.equal(draw(probs[order], seed=seed[order], offset=offset[order]), tokens[order])
    for i in (0, 5):
        alone = draw(probs[i : i + 1], seed=seed[i : i + 1], offset=offset[i : i + 1])
        assert torch.equal(alone, tokens[i : i + 1])


@pytest.mark.needs_gpu
@every_method
def test_blocks_that_share_a_row_change_no_bit(method: str) -> None:
    """One row has eight blocks, many have one each."""
    draw = METHODS[method][0]
    probs = torch.stack([make_row(kind, 128256, "cuda") for kind in KINDS]).repeat(50, 1)
    seed = torch.arange(len(probs), device="cuda")
    offset = torch.zeros_like(seed)
    tokens = draw(probs, seed=seed, offset=offset)
    for size in (1, 3, 9, 20, 40, 70):
        of_few = draw(probs[:size], seed=seed[:size], offset=offset[:size])
        assert torch.equal(of_few, tokens[:size])


@every_method
def test_draws_are_distributed_as_what_is_kept(method: str, device: str) -> None:
    draw, keep = METHODS[method]
    draws, kinds = (10**6, KINDS) if device == "cuda" else (150, ("peaked", "heavy"))
    same = torch.zeros(draws, dtype=torch.int32, device=device)
    for kind in kinds:
        probs = make_row(kind, 111, device)[None]
        tokens = draw(probs, indices=same, seed=draws, offset=0)
        assert_drawn_from(tokens, renormalised(probs, keep(probs)))


@pytest.mark.needs_gpu
@every_method
@pytest.mark.parametrize("vocab", [1, 2, *MODELS])
@pytest.mark.parametrize("kind", ["peaked", "flat", "tied", "heavy"])
def test_a_million_draws(kind: str, vocab: int, method: str) -> None:
    draw, keep = METHODS[method]
    probs = make_row(kind, vocab, "cuda")[None]
    same = torch.zeros(10**6, dtype=torch.int32, device="cuda")
    tokens = draw(probs, indices=same, seed=5, offset=0)
    assert_drawn_from(tokens, renormalised(probs, keep(probs)))


@pytest.mark.needs_gpu
@every_method
@pytest.mark.parametrize("vocab", [*MODELS, 1 << 20])
def test_vocabularies_of_models(vocab: int, method: str) -> None:
    draw, keep = METHODS[method]
    for rows in (1, 20, 70):
        probs = torch.softmax(torch.randn(rows, vocab, device="cuda") * 3, -1)
        _check(draw(probs, seed=rows, offset=0), probs, keep(probs), rows)


@pytest.mark.needs_gpu
@every_method
def test_a_graph_draws_anew(method: str) -> None:
    draw = METHODS[method][0]
    probs = torch.ones(70, 5000, device="cuda") / 5000
    seed, offset = (torch.zeros(1, dtype=torch.int64, device="cuda") for _ in range(2))
    drawn = []
    draw(probs, seed=seed, offset=offset)
    for given in ({"seed": seed, "offset": offset}, {}):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            tokens = draw(probs, **given)
        for _ in range(2):
            offset += 4
            graph.replay()
            drawn.append(tokens.clone())
    assert torch.equal(drawn[1], draw(probs, seed=0, offset=8))
    assert len({tuple(each.tolist()) for each in drawn}) == len(drawn)


def test_generators_reproduce(device: str) -> None:
    probs = torch.ones(12, 300, device=device) / 300
    generator = torch.Generator(device)
    drawn = []
    for _ in range(2):
        generator.manual_seed(8)
        drawn += [top_p_sampling_from_probs(probs, 0.9, generator=generator) for _ in range(2)]
    assert torch.equal(drawn[0], drawn[2])
    assert torch.equal(drawn[1], drawn[3])
    assert not torch.equal(drawn[0], drawn[1])


def test_rows_at_a_pitch_and_out_of_line(device: str) -> None:
    whole = torch.stack([make_row(kind, 711, device) for kind in KINDS])
    for probs in (whole[:, 3:706], whole[::2, 1:], whole[:, 8:700]):
        draw, keep = METHODS["top_p"]
        _check(draw(probs, seed=3, offset=0), probs, keep(probs), 3)


def test_results_go_where_they_are_asked_for(device: str) -> None:
    probs = _rows(50, device)
    out = torch.empty(6, dtype=torch.int64, device=device)
    valid = torch.zeros(6, dtype=torch.bool, device=device)
    assert sampling_from_probs(probs, out=out, valid=valid, seed=1, offset=0) is out
    assert bool(valid.all())
    assert torch.equal(out.int(), sampling_from_probs(probs, seed=1, offset=0))


def test_no_rows_are_no_work(device: str) -> None:
    assert sampling_from_probs(torch.ones(0, 8, device=device)).shape == (0,)
    none = torch.ones(0, dtype=torch.int64, device=device)
    assert sampling_from_probs(torch.ones(3, 8, device=device), none).shape == (0,)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"probs": (3,)}, "'probs' has shape (3,), which is not 2-dimensional"),
        ({"probs": (3, 0)}, "'probs' has shape (3, 0); a row has 1 to 1048576 elements"),
        ({"top_p": math.nan}, "'top_p' is nan; it is a number"),
        ({"top_p": "0.9"}, "'top_p' is '0.9'; it is a number"),
        ({"top_p": [2]}, "'top_p' has shape (2,); it is a number, or one for each row, (3,)"),
        ({"seed": 1}, "'seed' is given and 'offset' is not"),
        ({"out": [2]}, "'out' has shape (2,); one number for each draw is (3,)"),
    ],
)
def test_refusals(change: dict[str, Any], wrong: str, device: str) -> None:
    given: dict[str, Any] = {"probs": (3, 8), "top_p": 0.5, **change}
    for name, value in given.items():
        if isinstance(value, (tuple, list)):
            given[name] = torch.ones(*value, device=device)
    with pytest.raises(ValueError) as caught:
        top_p_sampling_from_probs(**given)
    assert f"top_p_sampling_from_probs: argument {wrong}" in str(caught.value)


def test_refused_types(device: str) -> None:
    probs = torch.ones(3, 8, device=device)
    with pytest.raises(TypeError, match="dtype float64; accepted: float32, float16, bfloat16"):
        sampling_from_probs(probs.double())
    with pytest.raises(TypeError, match=r"'top_k' is 2\.0; it is an int"):
        top_k_sampling_from_probs(probs, 2.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'filter_apply_order' is 'k'; it is one of 'top_k_first'"):
        top_k_top_p_sampling_from_probs(probs, 2, 0.5, filter_apply_order="k")
    with pytest.raises(ValueError, match="last dimension must be contiguous"):
        sampling_from_probs(probs.T)
