"""What the traces of renorm cannot say: borders of filters, special values, pitches, refusals."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from fictl.kernels.sampling.renorm.op import (
    top_k_mask_logits,
    top_k_renorm_probs,
    top_p_renorm_probs,
)

from .statistics import KINDS, kept_top_k, kept_top_p, make_row, renormalised

NAN, INF = math.nan, math.inf
VOCABS = (1, 2, 111, 513, 2051)


def _rows(vocab: int, device: str) -> torch.Tensor:
    return torch.stack([make_row(kind, vocab, device) for kind in KINDS])


def _check(out: torch.Tensor, probs: torch.Tensor, kept: torch.Tensor) -> None:
    torch.testing.assert_close(out.double(), renormalised(probs, kept), rtol=1e-5, atol=0.0)


@pytest.mark.parametrize("p", [-1.0, 0.0, 0.1, 0.5, 0.9, 0.999, 1.0, 3.0])
@pytest.mark.parametrize("vocab", VOCABS)
def test_top_p(vocab: int, p: float, device: str) -> None:
    probs = _rows(vocab, device)
    _check(top_p_renorm_probs(probs, p), probs, probs > 0 if p >= 1 else kept_top_p(probs, p))


@pytest.mark.parametrize("k", [-1, 0, 1, 2, 40, 110, 111, 5000])
@pytest.mark.parametrize("vocab", VOCABS)
def test_top_k(vocab: int, k: int, device: str) -> None:
    probs = _rows(vocab, device)
    kept = kept_top_k(probs, k) if k > 0 else probs > 0
    _check(top_k_renorm_probs(probs, k), probs, kept)
    logits = probs.log() - 3.0
    masked = top_k_mask_logits(logits, k)
    least = logits.topk(min(k, vocab) if k > 0 else vocab).values[:, -1:]
    assert torch.equal(masked, torch.where(logits >= least, logits, -INF))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types(dtype: torch.dtype, device: str) -> None:
    probs = _rows(600, device).to(dtype)
    of_k, of_p = top_k_renorm_probs(probs, 30), top_p_renorm_probs(probs, 1.0)
    assert (of_k.dtype, of_p.dtype) == (dtype, torch.float32)
    expected = renormalised(probs, kept_top_k(probs.double(), 30))
    torch.testing.assert_close(of_k.double(), expected, rtol=1e-2, atol=1e-6)
    _check(of_p, probs, probs > 0)


def test_each_row_has_a_limit_of_its_own(device: str) -> None:
    probs = _rows(300, device)
    k = torch.tensor([1, 3, 0, 300, 7, 50], device=device)
    p = torch.tensor([0.5, 0.1, 1.0, NAN, 0.3, 0.7], device=device)
    of_k, of_p = top_k_renorm_probs(probs, k.int()), top_p_renorm_probs(probs, p)
    for i, row in enumerate(probs):
        assert torch.equal(of_k[i], top_k_renorm_probs(row[None], int(k[i]))[0])
        share = 0.0 if i == 3 else float(p[i])
        assert torch.equal(of_p[i], top_p_renorm_probs(row[None], share)[0])
    assert torch.equal(top_k_renorm_probs(probs, k), of_k)


def test_what_is_no_probability(device: str) -> None:
    probs = torch.zeros(4, 600, device=device)
    probs[1, 5], probs[1, 9], probs[1, 10] = NAN, 0.5, 0.25
    probs[2, 5], probs[2, 599] = -3.0, 0.25
    probs[3] = NAN
    for out in (top_p_renorm_probs(probs, 0.4), top_k_renorm_probs(probs, 1)):
        assert out.nonzero().tolist() == [[1, 9], [2, 599]]
        assert out.amax(-1).tolist() == [0.0, 1.0, 1.0, 0.0]


def test_logits_of_every_kind(device: str) -> None:
    logits = torch.tensor(
        [[1.0, NAN, -INF, 3.0, -2.0], [INF, INF, 0.0, -0.0, -INF], [-INF] * 5, [NAN] * 5],
        device=device,
    )
    expected = [
        [1.0, -INF, -INF, 3.0, -INF],
        [INF, INF, -INF, -INF, -INF],
        [-INF] * 5,
        [-INF] * 5,
    ]
    assert top_k_mask_logits(logits, 2).tolist() == expected
    assert top_k_mask_logits(logits, 3)[1].tolist() == [INF, INF, 0.0, -0.0, -INF]


def test_more_equals_than_there_is_room_for_candidates(device: str) -> None:
    probs = torch.full((1, 9000), 1e-4, device=device)
    probs[0, ::3] = 1.00001e-4
    _check(top_k_renorm_probs(probs, 40), probs, kept_top_k(probs, 40))
    _check(top_p_renorm_probs(probs, 0.5), probs, kept_top_p(probs, 0.5))
    assert int((top_k_mask_logits(probs, 40) > 0).sum()) == 3000


def test_results_go_over_what_they_are_of(device: str) -> None:
    for change, limit in ((top_p_renorm_probs, 0.5), (top_k_renorm_probs, 9)):
        probs = _rows(700, device)
        expected = change(probs, limit)  # type: ignore[operator]
        assert change(probs, limit, out=probs) is probs  # type: ignore[operator]
        assert torch.equal(probs, expected)


def test_rows_at_any_pitch(device: str) -> None:
    whole = _rows(711, device)
    room = torch.full((6, 720), 7.0, device=device)
    for probs in (whole[:, 3:706], whole[::2, 1:], whole[:, 8:700]):
        out = room[: len(probs), 5 : 5 + probs.shape[1]]
        expected = top_p_renorm_probs(probs.contiguous(), 0.5)
        torch.testing.assert_close(
            top_p_renorm_probs(probs, 0.5, out=out), expected, rtol=0, atol=0
        )
    assert bool((room[:, :5] == 7.0).all())
    assert bool((room[:, 715:] == 7.0).all())


@pytest.mark.needs_gpu
@pytest.mark.parametrize("vocab", [32003, 128256, 151936, 1 << 20])
def test_vocabularies_of_models(vocab: int) -> None:
    probs = torch.softmax(3 * torch.randn(150, vocab, device="cuda"), -1)
    of_all = top_p_renorm_probs(probs, 0.9), top_k_renorm_probs(probs, 500)
    torch.testing.assert_close(of_all[0].sum(-1), torch.ones(150, device="cuda"), rtol=1e-5, atol=0)
    _check(of_all[1], probs, kept_top_k(probs, 500))
    logits = probs.log()
    masked = top_k_mask_logits(logits, 500)
    assert torch.equal(masked > -INF, kept_top_k(probs, 500))
    for rows in (1, 9, 20, 70):  # As many blocks a row as there may be, and fewer.
        assert torch.equal(top_p_renorm_probs(probs[:rows], 0.9), of_all[0][:rows])
        assert torch.equal(top_k_renorm_probs(probs[:rows], 500), of_all[1][:rows])
        assert torch.equal(top_k_mask_logits(logits[:rows], 500), masked[:rows])


def test_nothing_is_no_work(device: str) -> None:
    assert top_k_renorm_probs(torch.ones(0, 8, device=device), 3).shape == (0, 8)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"probs": torch.ones(3)}, "'probs' has shape (3,), which is not 2-dimensional"),
        ({"probs": torch.ones(8, 3).T}, "'probs' has shape (3, 8) and strides (1, 3)"),
        ({"top_k": torch.ones(3)}, "'top_k' has dtype float32; accepted: int32, int64"),
        ({"top_k": torch.ones(2).int()}, "'top_k' has shape (2,); it is (3,)"),
        ({"out": torch.ones(2, 8)}, "'out' has shape (2, 8), 'probs' has (3, 8)"),
        ({"out": torch.ones(8).expand(3, 8)}, "'out' has shape (3, 8) and strides (0, 1)"),
    ],
)
def test_refusals(change: dict[str, Any], wrong: str, device: str) -> None:
    given: dict[str, Any] = {"probs": torch.ones(3, 8), "top_k": 3, **change}
    for name, value in given.items():
        if isinstance(value, torch.Tensor):
            # Why not .to(device) alone: it lays out anew what overlaps.
            given[name] = torch.as_strided(value.to(device), value.shape, value.stride())
    with pytest.raises(ValueError) as caught:
        top_k_renorm_probs(**given)
    assert f"top_k_renorm_probs: argument {wrong}" in str(caught.value)
