"""What the traces of from_logits cannot say: which token a number draws, special values, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.kernels.sampling.from_logits.op import (
    sampling_from_logits,
    top_k_top_p_sampling_from_logits,
)
from fictl.kernels.sampling.from_probs.op import top_k_top_p_sampling_from_probs
from fictl.kernels.sampling.softmax.op import softmax
from fictl.op import uniforms

from .statistics import (
    KINDS,
    assert_drawn_from,
    kept_joint,
    kept_top_k_first,
    make_row,
    renormalised,
)

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
NAN, INF = math.nan, math.inf
Randn = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _check(tokens: torch.Tensor, logits: torch.Tensor, seed: Any, offset: Any) -> None:
    """The number of each row falls on its token, but for the rounding of sums in fp32."""
    drawn = uniforms(len(tokens), 1, seed, offset, logits.device)
    assert bool(((tokens >= 0) & (tokens < logits.shape[1])).all())
    until = torch.softmax(logits.double(), dim=-1).cumsum(-1)
    _check_places(tokens, drawn, until, torch.arange(len(tokens), device=logits.device))


def _check_places(
    tokens: torch.Tensor, drawn: torch.Tensor, until: torch.Tensor, rows: torch.Tensor
) -> None:
    """`until` are the cumulative sums of some rows, `rows` says whose token is whose."""
    rounding = 1e-5
    at = rows * until.shape[1] + tokens.long()
    last = until.flatten()[at]
    first = torch.where(tokens > 0, until.flatten()[(at - 1).clamp(min=0)], 0.0)
    assert bool((last > first).all())
    assert bool(((first - rounding <= drawn[:, 0]) & (drawn[:, 0] <= last + rounding)).all())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("vocab", [1, 2, 111, 512, 513, 1028, 2600])
def test_a_number_draws_the_token_that_it_falls_on(
    vocab: int, dtype: torch.dtype, randn: Randn
) -> None:
    logits = 3 * randn(5, vocab, dtype=dtype)
    tokens = sampling_from_logits(logits, seed=vocab, offset=7)
    assert tokens.dtype == torch.int32
    _check(tokens, logits, vocab, 7)


def test_rows_of_more_tiles_than_a_block_has_warps(randn: Randn) -> None:
    logits = randn(2, 16 * 512 * 2 + 77)
    _check(sampling_from_logits(logits, seed=1, offset=2), logits, 1, 2)


@pytest.mark.needs_gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("vocab", [32003, 128256, 151936, 1 << 20])
@pytest.mark.parametrize("rows", [1, 3, 17, 67, 500])
def test_vocabularies_of_models(rows: int, vocab: int, dtype: torch.dtype, randn: Randn) -> None:
    logits = 3 * randn(min(rows, 80), vocab, dtype=dtype)
    which = torch.arange(rows, device="cuda") % len(logits)
    tokens = sampling_from_logits(logits, which, seed=rows, offset=0)
    until = torch.softmax(logits.double(), dim=-1).cumsum(-1)
    _check_places(tokens, uniforms(rows, 1, rows, 0, "cuda"), until, which)
    assert tokens.dtype == torch.int64


@pytest.mark.parametrize("kind", KINDS)
def test_draws_are_distributed_as_the_softmax(kind: str, device: str) -> None:
    probs = make_row(kind, 111, device)
    draws = 1_000_000 if device == "cuda" else 1000
    same = torch.zeros(draws, dtype=torch.int32, device=device)
    tokens = sampling_from_logits(probs.log()[None] + 5.0, same, seed=draws, offset=0)
    assert_drawn_from(tokens, probs)


@pytest.mark.needs_gpu
@pytest.mark.parametrize("vocab", [1, 2, 32003])
def test_a_million_draws(vocab: int) -> None:
    logits = make_row("heavy", vocab, "cuda").log()[None].bfloat16()
    same = torch.zeros(10**6, dtype=torch.int32, device="cuda")
    tokens = sampling_from_logits(logits, same, seed=5, offset=0)
    assert_drawn_from(tokens, torch.softmax(logits.double(), -1))


@pytest.mark.needs_gpu
@pytest.mark.parametrize("vocab", [128256, 151936])
@pytest.mark.parametrize("kind", ["heavy", "tied", "zeros"])
def test_draws_of_large_vocabularies(kind: str, vocab: int) -> None:
    probs = make_row(kind, vocab, "cuda")
    same = torch.zeros(20_000, dtype=torch.int32, device="cuda")
    tokens = sampling_from_logits(probs.log()[None], same, seed=11, offset=4)
    assert_drawn_from(tokens, probs)


def test_the_same_numbers_draw_the_same(randn: Randn, device: str) -> None:
    logits = randn(6, 700)
    expected = sampling_from_logits(logits, seed=3, offset=8)
    for seed, offset in ((3, 8), torch.tensor([[3], [8]], device=device)):
        again = sampling_from_logits(logits, seed=seed, offset=offset, deterministic=False)
        assert torch.equal(again, expected)
    assert not torch.equal(sampling_from_logits(logits, seed=4, offset=8), expected)


def test_a_token_with_a_seed_of_its_own_does_not_depend_on_its_batch(
    randn: Randn, device: str
) -> None:
    logits = randn(6, 700)
    seed = torch.arange(40, 46, device=device)
    offset = torch.tensor([0, 4, 9, 1, 2, 77], device=device)
    tokens = sampling_from_logits(logits, seed=seed, offset=offset)
    _check(tokens, logits, seed, offset)
    turned = sampling_from_logits(logits.flip(0), seed=seed.flip(0), offset=offset.flip(0))
    assert torch.equal(turned.flip(0), tokens)
    some = sampling_from_logits(logits[2:5], seed=seed[2:5], offset=offset[2:5])
    assert torch.equal(some, tokens[2:5])


@pytest.mark.needs_gpu
@pytest.mark.parametrize("vocab", [777, 32003, 128256])
def test_a_token_is_the_same_in_batches_of_all_sizes(vocab: int, randn: Randn) -> None:
    logits = randn(300, vocab)
    seed, offset = torch.arange(300, device="cuda"), torch.zeros(300, device="cuda").long()
    whole = sampling_from_logits(logits, seed=seed, offset=offset)
    for rows in (2, 8, 16, 31, 66, 132, 133):
        some = sampling_from_logits(logits[-rows:], seed=seed[-rows:], offset=offset[-rows:])
        assert torch.equal(some, whole[-rows:]), rows


def test_a_generator_gives_other_tokens_every_time_and_the_same_again(
    randn: Randn, device: str
) -> None:
    logits = torch.zeros(40, 50, device=device)
    generator = torch.Generator(device)
    runs = []
    for _ in range(2):
        generator.manual_seed(9)
        runs.append([sampling_from_logits(logits, generator=generator) for _ in range(3)])
    assert torch.equal(torch.stack(runs[0]), torch.stack(runs[1]))
    assert len({tuple(tokens.tolist()) for tokens in runs[0]}) == 3


@pytest.mark.needs_gpu
def test_a_graph_draws_anew_by_an_offset_that_moves(randn: Randn) -> None:
    logits = randn(64, 32003)
    seed, offset = torch.tensor([5], device="cuda"), torch.tensor([0], device="cuda")
    out = torch.empty(64, dtype=torch.int32, device="cuda")
    sampling_from_logits(logits, seed=seed, offset=offset, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        sampling_from_logits(logits, seed=seed, offset=offset, out=out)
    for at in (0, 4, 8):
        offset.fill_(at)
        graph.replay()
        assert torch.equal(out, sampling_from_logits(logits, seed=5, offset=at))


@pytest.mark.needs_gpu
def test_a_graph_draws_anew_by_its_generator() -> None:
    logits = torch.zeros(64, 32000, device="cuda")
    sampling_from_logits(logits)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = sampling_from_logits(logits)
    drawn = []
    for _ in range(3):
        graph.replay()
        drawn.append(tuple(out.tolist()))
    assert len({*drawn}) == 3


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_several_tokens_of_one_row(dtype: torch.dtype, randn: Randn, device: str) -> None:
    logits = 3 * randn(3, 600)
    rows = torch.tensor([2, 0, 0, 2, 1, 2, 2], device=device, dtype=dtype)
    tokens = sampling_from_logits(logits, rows, seed=6, offset=1)
    assert tokens.dtype == dtype
    _check(tokens, logits[rows.long()], 6, 1)
    strided = rows.repeat_interleave(2)[::2]
    assert torch.equal(sampling_from_logits(logits, strided, seed=6, offset=1), tokens)


def test_a_row_that_there_is_not_gives_0(randn: Randn, device: str) -> None:
    rows = torch.tensor([-1, 3, 1 << 30], device=device)
    assert sampling_from_logits(randn(3, 600), rows).tolist() == [0, 0, 0]


def test_nan_and_minus_infinity_are_never_drawn(randn: Randn) -> None:
    logits = randn(40, 1100)
    logits[:, :700] = -INF
    logits[:, 800:] = NAN
    tokens = sampling_from_logits(logits, seed=1, offset=0)
    _check(tokens, logits.nan_to_num(nan=-INF, neginf=-INF), 1, 0)
    assert 700 <= int(tokens.min()) <= int(tokens.max()) < 800


def test_plus_infinity_wins(randn: Randn) -> None:
    logits = randn(40, 1100)
    logits[:, 3], logits[:, 1050], logits[:, 7] = INF, INF, NAN
    assert {*sampling_from_logits(logits, seed=1, offset=0).tolist()} == {3, 1050}


@pytest.mark.parametrize("value", [-INF, NAN])
def test_a_row_of_which_nothing_can_be_drawn_gives_0(value: float, randn: Randn) -> None:
    logits = randn(3, 600)
    logits[1] = value
    tokens = sampling_from_logits(logits, seed=1, offset=0)
    assert int(tokens[1]) == 0


def test_logits_far_apart(device: str) -> None:
    most = torch.finfo(torch.float32).max
    logits = torch.full((8, 1100), -most, device=device)
    assert len({*sampling_from_logits(logits, seed=1, offset=0).tolist()}) > 4
    logits[:, 900] = most
    assert {*sampling_from_logits(logits, seed=1, offset=0).tolist()} == {900}


def test_nan_is_refused_if_asked_for(randn: Randn) -> None:
    logits = randn(3, 60)
    sampling_from_logits(logits, check_nan=True)
    logits[1, 5] = NAN
    with pytest.raises(ValueError, match=r"sampling_from_logits: .*'logits' has NaN in .* \[1\]"):
        sampling_from_logits(logits, check_nan=True)
    logits[1] = -INF
    with pytest.raises(ValueError, match=r"top_k_top_p.*logits: .*softmax\(logits\).* \[1\]"):
        top_k_top_p_sampling_from_logits(logits, 5, 0.5, check_nan=True)


@pytest.mark.parametrize(
    "view",
    [lambda x: x[::2], lambda x: x[:, :700], lambda x: x[:, 3:600], lambda x: x[:1].expand(5, 900)],
    ids=["every second row", "aligned columns", "columns", "one row"],
)
def test_rows_at_any_pitch(view: Callable[[torch.Tensor], torch.Tensor], randn: Randn) -> None:
    logits = view(randn(6, 900, dtype=torch.bfloat16))
    tokens = sampling_from_logits(logits, seed=2, offset=0)
    assert torch.equal(tokens, sampling_from_logits(logits.contiguous(), seed=2, offset=0))
    _check(tokens, logits, 2, 0)


def test_no_rows_are_no_work(randn: Randn, device: str) -> None:
    assert sampling_from_logits(randn(0, 100)).shape == (0,)
    none = torch.zeros(0, dtype=torch.int64, device=device)
    assert sampling_from_logits(randn(3, 100), none).shape == (0,)
    assert top_k_top_p_sampling_from_logits(randn(0, 100), 5, 0.5).shape == (0,)


@pytest.mark.parametrize("order", ["top_k_first", "joint"])
def test_the_likeliest_are_drawn_as_from_their_probabilities(
    order: str, randn: Randn, device: str
) -> None:
    logits = 2 * randn(6, 700, dtype=torch.bfloat16)
    rows = torch.tensor([0, 5, 5, 3], device=device)
    for which in (None, rows):
        call = (9, 0.7, which, order)
        tokens = top_k_top_p_sampling_from_logits(logits, *call, seed=3, offset=1)
        probs = softmax(logits)
        assert torch.equal(tokens, top_k_top_p_sampling_from_probs(probs, *call, seed=3, offset=1))
        assert tokens.dtype == (torch.int32 if which is None else torch.int64)


@pytest.mark.parametrize("order", ["top_k_first", "joint"])
def test_draws_of_the_likeliest_are_distributed_as_their_softmax(order: str, device: str) -> None:
    probs = make_row("heavy", 111, device)
    draws = 1_000_000 if device == "cuda" else 100
    same = torch.zeros(draws, dtype=torch.int32, device=device)
    tokens = top_k_top_p_sampling_from_logits(
        probs.log()[None], 20, 0.8, same, order, seed=1, offset=0
    )
    kept = (kept_top_k_first if order == "top_k_first" else kept_joint)(probs, 20, 0.8)
    assert_drawn_from(tokens, renormalised(probs, kept))


def test_out_is_returned(randn: Randn, device: str) -> None:
    logits = randn(3, 60)
    for dtype in (torch.int32, torch.int64):
        out = torch.empty(3, dtype=dtype, device=device)
        assert sampling_from_logits(logits, out=out, seed=1, offset=0) is out
        assert torch.equal(out.int(), sampling_from_logits(logits, seed=1, offset=0))
        assert top_k_top_p_sampling_from_logits(logits, 5, 0.5, out=out) is out


def test_what_does_not_fit_is_refused_by_name(randn: Randn, device: str) -> None:
    logits = randn(4, 60)
    rows = torch.zeros(3, dtype=torch.int32, device=device)
    name = "sampling_from_logits"
    with pytest.raises(ValueError, match=rf"{name}: .*'logits' has shape \(60,\)"):
        sampling_from_logits(logits[0])
    with pytest.raises(ValueError, match=rf"{name}: .*'logits' has shape \(4, 0\)"):
        sampling_from_logits(logits[:, :0])
    with pytest.raises(ValueError, match=rf"{name}: .*'logits' .*logits.contiguous\(\)"):
        sampling_from_logits(logits.t())
    with pytest.raises(TypeError, match=rf"{name}: .*'logits' has dtype float64; .*bfloat16"):
        sampling_from_logits(logits.double())
    with pytest.raises(ValueError, match=rf"{name}: .*'indices' has shape \(3, 1\)"):
        sampling_from_logits(logits, rows[:, None])
    with pytest.raises(TypeError, match=rf"{name}: .*'indices' has dtype int16; .*int64"):
        sampling_from_logits(logits, rows.short(), out=rows)
    with pytest.raises(ValueError, match=rf"{name}: .*'out' has shape \(3,\); it is \(4,\)"):
        sampling_from_logits(logits, out=rows)
    with pytest.raises(TypeError, match=rf"{name}: .*'out' has dtype float32; .*int32"):
        sampling_from_logits(logits, out=randn(4))
    with pytest.raises(ValueError, match=rf"{name}: .*'seed' is given and 'offset' is not"):
        sampling_from_logits(logits, seed=1)
    seeds = torch.zeros(3, dtype=torch.int64, device=device)
    with pytest.raises(ValueError, match=rf"{name}: .*'seed' has shape \(3,\)"):
        sampling_from_logits(logits, seed=seeds, offset=seeds)
