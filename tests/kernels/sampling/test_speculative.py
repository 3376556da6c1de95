"""What the trace cannot say: edges, the distribution, that the batch does not matter, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.kernels.sampling.speculative import trace
from fictl.kernels.sampling.speculative.op import chain_speculative_sampling as sample
from fictl.op import uniforms

from .statistics import KINDS, assert_drawn_from, make_row

NAN, INF = float("nan"), float("inf")
Inputs = dict[str, torch.Tensor]
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
COUNTS = ("maybe_output_accepted_token_num", "maybe_output_emitted_draft_token_num")


@pytest.fixture
def batch(device: str) -> Callable[..., Inputs]:
    """The inputs of a call, without counts and random numbers."""

    def make(requests: int, drafts: int, vocab: int, dtype: torch.dtype = torch.float32) -> Inputs:
        sizes = {"requests": requests, "drafts": drafts, "vocab": vocab}
        generator = torch.Generator(device).manual_seed(vocab)
        assert trace.chain_speculative_sampling.init is not None
        made = trace.chain_speculative_sampling.init(sizes, dtype, device, generator)
        return {name: made[name] for name in ("draft_probs", "draft_token_ids", "target_probs")}

    return make


def _checked(inputs: Inputs, **more: Any) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    template = trace.chain_speculative_sampling
    before = {name: value.clone() for name, value in more.items() if name in COUNTS}
    results = sample(**inputs, **more)
    assert template.judge is not None
    template.judge({**inputs, **more, **before}, dict(zip(template.outputs, results, strict=True)))
    return results


def _some(x: Inputs, rows: Any) -> Inputs:
    return {name: tensor[rows] for name, tensor in x.items()}


def _emitted_by_hand(x: Inputs, seed: int, offset: int) -> list[int]:
    """One draft after the other, by the text of the definition."""
    draft, ids, target = (x[n].cpu() for n in ("draft_probs", "draft_token_ids", "target_probs"))
    requests, drafts, _ = draft.shape
    u = uniforms(requests, drafts, seed, offset).float()
    emitted = []
    for request in range(requests):
        step = 0
        while step < drafts:
            token = int(ids[request, step])
            q = target[request, step, token].float()
            if not u[request, step] * draft[request, step, token].float() < q:
                break
            step += 1
        emitted.append(step)
    return emitted


def test_drafts_are_emitted_up_to_the_first_that_is_not_taken(batch: Callable[..., Inputs]) -> None:
    x = batch(20, 5, 40)
    out, accepted, emitted = _checked(x, seed=3, offset=9)
    assert emitted.tolist() == _emitted_by_hand(x, 3, 9)
    assert {*emitted.tolist()} >= {0, 1, 5}
    assert bool((accepted >= emitted).all())
    for tokens, drafts, count in zip(
        out.tolist(), x["draft_token_ids"].tolist(), emitted.tolist(), strict=True
    ):
        assert tokens[:count] == drafts[:count]
        assert 0 <= tokens[count] < 40
        assert tokens[count + 1 :] == [-1] * (5 - count)


@pytest.mark.parametrize("drafts", [0, 1, 31, 32, 33, 70])
def test_any_number_of_drafts(drafts: int, batch: Callable[..., Inputs]) -> None:
    x = batch(3, drafts, 9)
    x["draft_probs"] = 0.5 * x["draft_probs"]  # Most drafts are taken.
    _checked(x, seed=5, offset=1)
    _, _, emitted = _checked({**x, "draft_probs": 0 * x["draft_probs"]}, seed=5, offset=1)
    assert emitted.tolist() == [drafts] * 3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("vocab", [1, 2, 3, 511, 513, 4097])
def test_any_vocabulary(vocab: int, dtype: torch.dtype, batch: Callable[..., Inputs]) -> None:
    _checked(batch(2, 1, vocab, dtype), seed=8, offset=0)


def test_rows_at_a_pitch_and_misaligned_ones(batch: Callable[..., Inputs]) -> None:
    x = batch(3, 2, 40)
    expected = _checked(x, seed=1, offset=2)
    for start in (0, 1):
        apart = {
            name: torch.cat((x[name], x[name]), -1)[..., start : start + x[name].shape[-1]]
            for name in ("draft_probs", "target_probs")
        }
        rolled = {name: x[name].roll(-start, -1) for name in apart}
        _checked({**x, **apart}, seed=1, offset=2)
        for mine, want in zip(
            sample(**{**x, **apart}, seed=1, offset=2),
            sample(**{**x, **rolled}, seed=1, offset=2),
            strict=True,
        ):
            assert torch.equal(mine, want)
    swapped = {name: x[name].transpose(0, 1).contiguous().transpose(0, 1) for name in x}
    swapped["draft_token_ids"] = swapped["draft_token_ids"].long()
    for mine, want in zip(sample(**swapped, seed=1, offset=2), expected, strict=True):
        assert torch.equal(mine, want)


def test_what_else_is_in_the_batch_does_not_matter(batch: Callable[..., Inputs]) -> None:
    x = batch(6, 3, 700)
    seeds = torch.arange(6, device=x["target_probs"].device)
    every = sample(**x, seed=seeds, offset=torch.zeros_like(seeds))
    for rows in ([0], [5, 3, 0], [4, 4]):
        some = sample(**_some(x, rows), seed=seeds[rows], offset=torch.zeros(1).long().to(seeds))
        if len(rows) > 1:
            for mine, of_all in zip(some, every, strict=True):
                assert torch.equal(mine, of_all[rows])
    same = sample(**_some(x, [2, 2]), seed=7, offset=0)
    again = sample(**_some(x, [2]), seed=7, offset=0)
    assert torch.equal(same[0][:1], again[0])


def test_counts_are_added_to_what_is_there(batch: Callable[..., Inputs]) -> None:
    x = batch(4, 3, 50)
    device = x["target_probs"].device
    counts = {name: torch.full((4,), 100, dtype=torch.int32, device=device) for name in COUNTS}
    _, accepted, emitted = sample(**x, seed=1, offset=0)
    results = _checked(x, seed=1, offset=0, **counts)
    assert results[1] is counts[COUNTS[0]]
    assert results[2] is counts[COUNTS[1]]
    assert torch.equal(results[1], 100 + accepted)
    assert torch.equal(results[2], 100 + emitted)


def test_an_output_is_written_where_it_is_given(batch: Callable[..., Inputs]) -> None:
    x = batch(3, 2, 50)
    room = torch.full((3, 9), 7, dtype=torch.int32, device=x["target_probs"].device)
    out, _, _ = sample(**x, seed=1, offset=0, out=room[:, 2:5])
    assert torch.equal(room[:, 2:5], sample(**x, seed=1, offset=0)[0])
    assert out.data_ptr() == room[:, 2:5].data_ptr()
    assert bool((room[:, :2] == 7).all())
    assert bool((room[:, 5:] == 7).all())


def test_what_is_no_token_ends_the_draft(batch: Callable[..., Inputs]) -> None:
    """There the target's row is drawn from, whatever the draft's is."""
    x = batch(4, 3, 30)
    x["draft_probs"][:, [0, 2]] = 0  # The other tokens are taken.
    for wrong in (-1, 30, 2**31 - 1, -(2**31)):
        x["draft_token_ids"][:, 1] = wrong
        _, accepted, emitted = _checked(x, seed=2, offset=0)
        assert emitted.tolist() == [1] * 4
        assert accepted.tolist() == [2] * 4
    wide = x["draft_token_ids"].long()
    wide[:, 1] = 2**32 + 5
    _, _, emitted = _checked({**x, "draft_token_ids": wide}, seed=2, offset=0)
    assert emitted.tolist() == [1] * 4


def test_where_nothing_is_beyond_the_draft_the_target_is_drawn_from(device: str) -> None:
    row = torch.tensor([0.0, 0.0, 0.5, 0.5], device=device)
    x = {
        "draft_probs": row.expand(3, 1, 4),
        "target_probs": row.expand(3, 2, 4),
        "draft_token_ids": torch.zeros((3, 1), dtype=torch.int32, device=device),
    }
    out, _, emitted = _checked(x, seed=1, offset=0)
    assert emitted.tolist() == [0, 0, 0]
    assert {*out[:, 0].tolist()} <= {2, 3}


@pytest.mark.parametrize("value", [NAN, INF, -INF, -1.0, 0.0])
def test_values_that_are_no_probabilities_never_give_what_is_no_token(
    value: float, batch: Callable[..., Inputs]
) -> None:
    x = batch(4, 2, 600)
    for name in ("draft_probs", "target_probs"):
        for at in (slice(None), slice(0, 500), slice(3, 4)):
            changed = x[name].clone()
            changed[..., at] = value
            out, accepted, emitted = sample(**{**x, name: changed}, seed=1, offset=0)
            last = out.gather(1, emitted.long()[:, None])
            assert bool(((last >= 0) & (last < 600)).all())
            assert bool(((emitted >= 0) & (emitted <= accepted) & (accepted <= 2)).all())


def test_a_row_of_nothing_draws_the_first_token(batch: Callable[..., Inputs]) -> None:
    x = batch(2, 2, 70)
    x["target_probs"] *= 0
    out, _, emitted = sample(**x, seed=1, offset=0)
    assert emitted.tolist() == [0, 0]
    assert out.tolist() == [[0, -1, -1]] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_token_is_distributed_as_the_target_says(kind: str, device: str) -> None:
    """Whatever the draft model is: drafts that are taken and tokens in place of others together."""
    vocab, many = (111, 1 << 20) if device == "cuda" else (23, 4000)
    draft, target = make_row("flat", vocab, device), make_row(kind, vocab, device)
    generator = torch.Generator(device).manual_seed(1)
    ids = torch.randint(vocab, (many, 1), device=device, generator=generator).int()
    out, _, _ = sample(
        draft.expand(many, 1, vocab), ids, target.expand(many, 2, vocab), seed=17, offset=0
    )
    assert_drawn_from(out[:, 0], target)


@pytest.mark.needs_gpu
@pytest.mark.parametrize("vocab", [32003, 128256, 151936])
def test_large_vocabularies_are_drawn_as_the_target_says(vocab: int) -> None:
    many = 1 << 20
    draft, target = (make_row(kind, vocab, "cuda") for kind in ("tied", "heavy"))
    generator = torch.Generator("cuda").manual_seed(1)
    until = draft.double().cumsum(0)
    u = torch.rand(many, device="cuda", generator=generator, dtype=torch.float64)
    ids = torch.searchsorted(until, u * until[-1], right=True).clamp(max=vocab - 1)
    out, _, _ = sample(
        draft.expand(many, 1, vocab),
        ids[:, None],
        target.expand(many, 2, vocab),
        seed=17,
        offset=0,
    )
    assert_drawn_from(out[:, 0], target)


@pytest.mark.needs_gpu
def test_however_many_blocks_share_a_row_the_tokens_are_the_same(
    batch: Callable[..., Inputs],
) -> None:
    x = batch(200, 2, 128256)
    seeds = torch.arange(200, device="cuda")
    zeros = torch.zeros_like(seeds)
    every = sample(**x, seed=seeds, offset=zeros)
    for count in (2, 9, 30, 64, 70):
        some = sample(**_some(x, slice(count)), seed=seeds[:count], offset=zeros[:count])
        for mine, of_all in zip(some, every, strict=True):
            assert torch.equal(mine, of_all[:count])
    _checked(_some(x, slice(64)), seed=5, offset=0)


@pytest.mark.needs_gpu
def test_the_tokens_are_those_of_flashinfer(batch: Callable[..., Inputs]) -> None:
    """But for rounding at the border between two tokens, in sums of another order."""
    theirs = pytest.importorskip("flashinfer.sampling").chain_speculative_sampling
    for drafts, vocab in ((3, 32000), (1, 128256), (5, 1000)):
        x = batch(256, drafts, vocab)
        for seed in range(4):
            ours, _, emitted = sample(**x, seed=seed, offset=8)
            other, _, their_emitted = theirs(**x, seed=seed, offset=8)
            assert torch.equal(emitted, their_emitted)
            assert float((ours != other).any(1).float().mean()) < 0.02


def test_dtypes_may_differ(batch: Callable[..., Inputs]) -> None:
    x = batch(3, 2, 60, torch.bfloat16)
    x["draft_probs"] = x["draft_probs"].float()
    same = sample(**{**x, "target_probs": x["target_probs"].float()}, seed=1, offset=0)
    for mine, want in zip(sample(**x, seed=1, offset=0), same, strict=True):
        assert torch.equal(mine, want)


def test_no_requests_are_no_work(batch: Callable[..., Inputs]) -> None:
    out, accepted, emitted = sample(**batch(0, 2, 60))
    assert [x.shape for x in (out, accepted, emitted)] == [(0, 3), (0,), (0,)]


def test_what_does_not_fit_is_refused_by_name(batch: Callable[..., Inputs]) -> None:
    x = batch(3, 2, 60)
    counts = torch.zeros(3, device=x["target_probs"].device)
    wrong: dict[str, tuple[type[Exception], str, dict[str, Any]]] = {
        "draft_probs": (
            ValueError,
            r"has shape \(3, 2, 59\)",
            {"draft_probs": x["draft_probs"][..., :59]},
        ),
        "target_probs": (
            ValueError,
            r"target_probs.contiguous\(\)",
            {"target_probs": x["target_probs"].transpose(1, 2).contiguous().transpose(1, 2)},
        ),
        "draft_token_ids": (
            TypeError,
            "has dtype int16; accepted: int32, int64",
            {"draft_token_ids": x["draft_token_ids"].short()},
        ),
        COUNTS[0]: (TypeError, "has dtype int64; accepted: int32", {COUNTS[0]: counts.long()}),
        COUNTS[1]: (ValueError, r"has shape \(2,\)", {COUNTS[1]: counts.int()[:2]}),
        "out": (
            TypeError,
            "has dtype int64",
            {"out": torch.zeros_like(counts).long().expand(3, 3)},
        ),
        "seed": (ValueError, "'offset' is not; pass both", {"seed": 1}),
    }
    for name, (error, said, given) in wrong.items():
        with pytest.raises(error, match=f"chain_speculative_sampling: .*'{name}' .*{said}"):
            sample(**{**x, **given})
    doubles = {name: x[name].double() for name in ("draft_probs", "target_probs")}
    with pytest.raises(TypeError, match="'target_probs' has dtype float64; accepted: float32"):
        sample(**{**x, **doubles})
    with pytest.raises(ValueError, match=r"'target_probs' has shape \(3, 3, 0\)"):
        sample(x["draft_probs"][..., :0], x["draft_token_ids"], x["target_probs"][..., :0])
