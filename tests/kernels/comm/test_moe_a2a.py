"""Tests of moe_a2a beside its trace: several ranks, uneven tokens, payloads, and refusals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from fictl.comm import Group
from fictl.kernels.comm._active_ranks import moe_a2a_active_rank_mask
from fictl.kernels.comm._moe_a2a import (
    moe_a2a_combine,
    moe_a2a_dispatch,
    moe_a2a_sanitize_expert_ids,
)
from fictl.kernels.comm._moe_alltoall import (
    MoeAlltoAll,
    moe_a2a_get_workspace_size_per_rank,
    moe_a2a_initialize,
    moe_a2a_wrap_payload_tensor_in_workspace,
)
from fictl.testing import run_ranks

from .on_gpus import on_gpus

EXPERTS, TOP_K, MOST, HIDDEN = 8, 3, 9, 16


class Ranks:
    """A MoeAlltoAll for each rank, and tokens: rank r has counts[r] of them."""

    def __init__(
        self, counts: list[int], device: str, dtype: torch.dtype = torch.half, **options: Any
    ) -> None:
        self.size = len(counts)
        self.exchanges = [
            MoeAlltoAll(
                SimpleNamespace(moe_ep_rank=g.rank, moe_ep_size=self.size, moe_ep_group=[]),
                MOST,
                TOP_K,
                EXPERTS,
                hidden_size=2 * HIDDEN,
                mnnvl_config=SimpleNamespace(comm_backend=g),
                **options,
            )
            for g in Group.local(self.size)
        ]
        self.experts = [
            torch.randint(-1, EXPERTS, (n, TOP_K), device=device, dtype=torch.int32) for n in counts
        ]
        self.tokens = [torch.randn(n, HIDDEN, device=device).to(dtype) for n in counts]

    def dispatched(self, extra: list[Any] | None = None, **options: Any) -> list[Any]:
        payloads = [[x] for x in self.tokens] if extra is None else extra
        return run_ranks(
            [
                lambda a=a, e=e, p=p: a.dispatch(e, p, MOST, **options)
                for a, e, p in zip(self.exchanges, self.experts, payloads, strict=True)
            ]
        )

    def combined(self, replies: list[torch.Tensor], **options: Any) -> list[torch.Tensor]:
        return run_ranks(
            [
                lambda a=a, p=p: a.combine(p, MOST, **options)
                for a, p in zip(self.exchanges, replies, strict=True)
            ]
        )

    def is_for(self, source: int, rank: int) -> torch.Tensor:
        experts = self.experts[source]
        each = EXPERTS // self.size
        return ((experts >= rank * each) & (experts < (rank + 1) * each)).any(-1)


def assert_here(ranks: Ranks, received: list[Any], rows: list[torch.Tensor], payload: int) -> None:
    for rank in range(ranks.size):
        for source in range(ranks.size):
            expected = rows[source][ranks.is_for(source, rank)]
            assert torch.equal(received[rank][payload][source][: len(expected)], expected)


@pytest.mark.parametrize("counts", [[9], [5, 0], [0, 9, 3, 1], [4, 2, 7, 9, 0, 1, 3, 5]])
def test_tokens_and_the_sums_of_their_replies(counts: list[int], device: str) -> None:
    ranks = Ranks(counts, device)
    for _ in range(2):
        received = ranks.dispatched()
        assert_here(ranks, received, ranks.tokens, 0)
        replies = [(x[0].float() * (rank + 1)).half() for rank, x in enumerate(received)]
        for source, out in enumerate(ranks.combined(replies)):
            total = torch.zeros(counts[source], HIDDEN, device=device)
            for rank in range(ranks.size):
                reply = (ranks.tokens[source].float() * (rank + 1)).half().float()
                total += reply * ranks.is_for(source, rank).unsqueeze(1)
            assert torch.equal(out, total.half())


@pytest.mark.parametrize("counts", [[2, 2], [2, 0, 1, 2]])
def test_more_tokens_than_in_the_call_before(counts: list[int], device: str) -> None:
    """A rank that is ahead writes where a slower one still reads the replies of the call before."""
    few, many = Ranks(counts, device), Ranks([MOST] * len(counts), device)

    def steps(rank: int) -> torch.Tensor:
        exchange = few.exchanges[rank]
        (rows,) = exchange.dispatch(few.experts[rank], [few.tokens[rank]], 2)
        out = exchange.combine(rows, 2)
        exchange.dispatch(many.experts[rank], [many.tokens[rank]], MOST)
        return out

    for source, out in enumerate(run_ranks([lambda r=r: steps(r) for r in range(few.size)])):
        ranks = sum(few.is_for(source, rank).int() for rank in range(few.size))
        assert torch.equal(out, few.tokens[source] * ranks.unsqueeze(1))


def test_several_payloads_of_any_bytes(device: str) -> None:
    ranks = Ranks([3, 6], device)
    odd = [torch.randint(0, 255, (len(x), 7), device=device).byte() for x in ranks.tokens]
    scales = [torch.randn(len(x), 3, device=device) for x in ranks.tokens]
    received = ranks.dispatched([list(row) for row in zip(ranks.tokens, odd, scales, strict=True)])
    for payload, rows in enumerate((ranks.tokens, odd, scales)):
        assert_here(ranks, received, rows, payload)


def test_experts_of_places_without_a_token(device: str) -> None:
    ranks = Ranks([2, 5], device)
    payloads = [[x, e] for x, e in zip(ranks.tokens, ranks.experts, strict=True)]
    received = ranks.dispatched(payloads, invalid_token_expert_id=99, expert_id_payload_index=1)
    for rank in range(2):
        for source in range(2):
            count = int(ranks.is_for(source, rank).sum())
            experts = received[rank][1][source]
            assert torch.equal(experts[:count], ranks.experts[source][ranks.is_for(source, rank)])
            assert set(experts[count:].unique().tolist()) <= {99}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_replies_written_in_place(dtype: torch.dtype, device: str) -> None:
    ranks = Ranks([4, 4], device, dtype)
    received = ranks.dispatched()
    places = [
        a.get_combine_payload_tensor_in_workspace(MOST, HIDDEN, dtype) for a in ranks.exchanges
    ]
    for place, (rows,) in zip(places, received, strict=True):
        place.copy_(rows)
    for source, out in enumerate(ranks.combined(places, payload_in_workspace=True)):
        count = sum(ranks.is_for(source, rank).int() for rank in range(2))
        assert torch.equal(out, ranks.tokens[source] * count.unsqueeze(1).to(dtype))


def test_out_of_turn(device: str) -> None:
    ranks = Ranks([1], device)
    (one,) = ranks.exchanges
    with pytest.raises(RuntimeError, match=r"combine\(\) was called without dispatch"):
        one.combine(torch.zeros(1, MOST, HIDDEN, device=device), MOST)
    ranks.dispatched()
    with pytest.raises(RuntimeError, match="called twice without combine"):
        ranks.dispatched()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"active_rank_mask": 1}, "active_rank_mask needs enable_rank_mask=True"),
        ({"eplb_local_stats": 1}, "eplb_local_stats is not supported"),
        ({"invalid_token_expert_id": 1}, "needs expert_id_payload_index"),
    ],
)
def test_what_dispatch_refuses(options: dict, message: str, device: str) -> None:
    with pytest.raises((ValueError, NotImplementedError), match=message):
        Ranks([1], device).dispatched(**options)


def test_sizes_that_are_refused(device: str) -> None:
    ranks = Ranks([2], device)
    (one,), (experts,), (tokens,) = ranks.exchanges, ranks.experts, ranks.tokens
    with pytest.raises(ValueError, match="2 tokens, more than runtime_max_tokens_per_rank, 1"):
        one.dispatch(experts, [tokens], 1)
    with pytest.raises(ValueError, match="10 tokens a rank; the workspace is for at most 9"):
        one.dispatch(experts, [tokens], 10)
    with pytest.raises(ValueError, match=r"a payload has shape \(1, 16\); expected \(2, ...\)"):
        one.dispatch(experts, [tokens[:1]], MOST)
    with pytest.raises(ValueError, match="9 payloads; 1 to 8 can be sent"):
        one.dispatch(experts, [tokens] * 9, MOST)
    with pytest.raises(ValueError, match=r"'workspace' has room for .* bytes, the call needs"):
        one.dispatch(experts, [tokens.repeat(1, 99)], MOST)
    with pytest.raises(ValueError, match="'metainfo' is not what moe_a2a_initialize"):
        one.metainfo = torch.zeros(3, dtype=torch.int64)
        one.dispatch(experts, [tokens], MOST)


def test_the_functions_beneath(device: str) -> None:
    (one,) = Ranks([1], device).exchanges
    size = moe_a2a_get_workspace_size_per_rank(1, MOST, 4 * HIDDEN + 8 * TOP_K, 4 * HIDDEN)
    assert size == one.workspace_size_per_rank
    assert torch.equal(moe_a2a_initialize(one.workspace, 0, 1, MOST), one.metainfo)
    view = moe_a2a_wrap_payload_tensor_in_workspace(one.workspace, [2, 2], 256, 288, torch.half)
    assert view.shape == (2, 2, 4)
    with pytest.raises(ValueError, match="bytes 0 to 99999999 of a workspace"):
        moe_a2a_wrap_payload_tensor_in_workspace(one.workspace, [1], 0, 99999999, torch.half)
    with pytest.raises(NotImplementedError, match="statistics of experts"):
        moe_a2a_initialize(one.workspace, 0, 1, MOST, 8)


@pytest.mark.parametrize(
    ("backend", "refused", "message"),
    [
        ("cake", NotImplementedError, "'trtllm' does the same exchange"),
        ("mnnvl", ValueError, "backend is 'mnnvl'; accepted: 'trtllm'"),
    ],
)
def test_backends_of_others_are_refused(
    backend: str, refused: type[Exception], message: str, device: str
) -> None:
    (one,) = Ranks([1], device, backend="trtllm").exchanges
    own = {"backend": "trtllm"}
    assert torch.equal(moe_a2a_initialize(one.workspace, 0, 1, MOST, **own), one.metainfo)
    for call in (
        lambda: moe_a2a_initialize(one.workspace, 0, 1, MOST, backend=backend),
        lambda: moe_a2a_get_workspace_size_per_rank(1, MOST, 8, 8, backend=backend),
        lambda: moe_a2a_dispatch(None, [], None, None, MOST, backend=backend),
        lambda: moe_a2a_combine(None, 1, None, None, MOST, backend=backend),
        lambda: moe_a2a_sanitize_expert_ids(None, None, None, backend=backend),
        lambda: Ranks([1], device, backend=backend),
    ):
        with pytest.raises(refused, match=message):
            call()


def assert_among(alive: list[int], ranks: Ranks) -> None:
    """Dispatch and combine on the ranks alive; the others do not call."""
    mask = moe_a2a_active_rank_mask(alive, ranks.size)
    lives = [(ranks.exchanges[r], ranks.experts[r], ranks.tokens[r]) for r in alive]
    received = run_ranks(
        [
            lambda a=a, e=e, x=x: a.dispatch(e, [x, e], MOST, 99, 1, active_rank_mask=mask)
            for a, e, x in lives
        ]
    )
    for rank, (rows, experts) in zip(alive, received, strict=True):
        for source in range(ranks.size):
            is_for = ranks.is_for(source, rank) & (source in alive)
            expected = ranks.tokens[source][is_for]
            assert torch.equal(rows[source][: len(expected)], expected)
            assert set(experts[source][len(expected) :].unique().tolist()) <= {99}
    outs = run_ranks(
        [
            lambda a=a, p=p: a.combine(p[0], MOST, active_rank_mask=mask)
            for (a, _, _), p in zip(lives, received, strict=True)
        ]
    )
    for source, out in zip(alive, outs, strict=True):
        count = sum(ranks.is_for(source, rank).int() for rank in alive)
        assert torch.equal(out, ranks.tokens[source] * count.unsqueeze(1).half())


@pytest.mark.parametrize("alive", [[0, 1, 2, 3], [0, 2, 3], [3]])
def test_ranks_that_have_failed(alive: list[int], device: str) -> None:
    """Tokens for them are dropped, and what they sent before counts as nothing."""
    ranks = Ranks([9, 4, 0, 7], device, enable_rank_mask=True)
    assert_among([0, 1, 2, 3], ranks)
    for _ in range(2):
        assert_among(alive, ranks)


def test_a_rank_that_fails_between_dispatch_and_combine(device: str) -> None:
    ranks = Ranks([5, 5], device, enable_rank_mask=True)
    both = moe_a2a_active_rank_mask([0, 1], 2)
    received = ranks.dispatched(active_rank_mask=both)
    alone = moe_a2a_active_rank_mask([0], 2)
    (out,) = run_ranks(
        [lambda: ranks.exchanges[0].combine(received[0][0], MOST, active_rank_mask=alone)]
    )
    assert torch.equal(out, ranks.tokens[0] * ranks.is_for(0, 0).unsqueeze(1).half())


def test_masks() -> None:
    assert moe_a2a_active_rank_mask([0, 2], 3).tolist() == [5]
    assert moe_a2a_active_rank_mask(torch.tensor([1]), 2).dtype == torch.uint64
    for rank in (-1, 2):
        with pytest.raises(ValueError, match=f"rank {rank} of 2 ranks"):
            moe_a2a_active_rank_mask([rank], 2)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (None, "there is no active_rank_mask; pass moe_a2a_active_rank_mask"),
        (torch.tensor([1]), "active_rank_mask is torch.int64 of shape"),
        (torch.tensor([1, 0], dtype=torch.uint64), r"of shape \(2,\)"),
        (torch.tensor([2], dtype=torch.uint64), "is without this rank, 0"),
    ],
)
def test_masks_that_are_refused(mask: Any, message: str, device: str) -> None:
    ranks = Ranks([1, 1], device, enable_rank_mask=True)
    with pytest.raises(ValueError, match=message):
        ranks.dispatched(active_rank_mask=mask)


@on_gpus
def test_gpus_of_one_host(size: int, ranks, process_group, device: str) -> None:
    """Rank 0 has three tokens, the others none; their experts are on the first rank and the last."""
    mapping = SimpleNamespace(moe_ep_rank=ranks.rank, moe_ep_size=size, moe_ep_group=[*range(size)])
    exchange = MoeAlltoAll(mapping, MOST, 2, EXPERTS, hidden_size=HIDDEN)
    count = 3 if ranks.rank == 0 else 0
    tokens = torch.arange(count * HIDDEN, device=device).view(count, HIDDEN).half()
    experts = torch.tensor([[0, EXPERTS - 1]] * count, device=device).int().view(count, 2)
    for _ in range(3):
        (received,) = exchange.dispatch(experts, [tokens], MOST)
        assert torch.equal(exchange.combine(received, MOST), 2 * tokens)
    exchange.destroy()
