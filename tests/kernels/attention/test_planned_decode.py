"""Decoding as one call beside its traces: drafts and their masks, memory, and refusals."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

from fictl.kernels.attention._trace.axes import TOLERANCES
from fictl.kernels.attention.planned_decode.op import (
    cudnn_batch_decode_with_kv_cache,
    trtllm_batch_decode_with_kv_cache,
    xqa,
    xqa_batch_decode_with_kv_cache,
)
from fictl.testing import assert_close

from .reference import Batch, Shape, assert_attends, lengths
from .tables import (
    counters_are_zero,
    decode,
    ints,
    memory,
    own_tables,
    packed,
    starts,
    table,
)

BF16, E4M3 = torch.bfloat16, torch.float8_e4m3fn
SCALE = 64**-0.5
# Half a step of 8 bits, on top of what 16 bits have.
WITH_8_BITS = {**TOLERANCES, "float8_e4m3fn": (8.3e-2, 1.8e-2)}
on_gpu = pytest.mark.needs_gpu  # each more is a compile of some seconds


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def _shape(group: int = 2, dim: int = 64, **others: Any) -> Shape:
    return Shape(dim, 2 * group, 2, **{"page_size": 16, "layout": "HND", **others})


def _decode(batch: Batch, workspace: torch.Tensor | None = None, **options: Any) -> Any:
    """Decode with sums of weights, and look whether the counters are zeros after."""
    memory_of = memory(batch.device) if workspace is None else workspace
    found = decode(batch, memory_of, **{"return_lse": True, **options})
    assert counters_are_zero(memory_of)
    return found


@pytest.mark.parametrize("group", [1, 5, 8])
def test_any_lengths_of_keys_and_drafts(group: int, random: Random, device: str) -> None:
    for turn in range(12 if device == "cuda" else 2):
        requests = random.choice((1, 3, 40))
        q_lens = [1] * requests if turn % 2 else [random.randint(0, 5) for _ in range(requests)]
        kv_lens = lengths(random, requests, 1500 if requests < 9 else 200)
        shape = _shape(group, layout=random.choice(("NHD", "HND")))
        batch = Batch(q_lens, kv_lens, shape, device, random.getrandbits(30))
        window = random.choice((-1, 0, 127))
        if not any(q_lens):
            continue
        sinks = torch.randn(shape.heads, device=device) if random.random() < 0.5 else None
        found = _decode(batch, window_left=window, sinks=sinks)
        expected = batch.expected(causal=True, window_left=window, sinks=sinks)
        assert_attends(found, expected, (q_lens, kv_lens, window, sinks))


@pytest.mark.parametrize(
    ("dim", "kv", "out", "page"),
    [
        pytest.param(128, E4M3, BF16, 16, marks=on_gpu),
        pytest.param(128, E4M3, BF16, 128, marks=on_gpu),
        pytest.param(256, E4M3, BF16, 32, marks=on_gpu),
        pytest.param(256, BF16, BF16, 64, marks=on_gpu),
        pytest.param(128, BF16, E4M3, 1, marks=on_gpu),
        pytest.param(64, E4M3, E4M3, 16, marks=on_gpu),
    ],
)
def test_dtypes_and_dims(
    dim: int, kv: torch.dtype, out: torch.dtype, page: int, random: Random, device: str
) -> None:
    shape = _shape(4, dim, kv_dtype=kv, page_size=page)
    kv_lens = [0, 700, 33, *lengths(random, 3, 300)]
    batch = Batch([1] * 6, kv_lens, shape, device, random.getrandbits(30))
    found, lse = _decode(batch, out_dtype=out)
    assert found.dtype is out
    wanted, sums = batch.expected(causal=True)
    assert_attends((torch.zeros_like(wanted), lse), (torch.zeros_like(wanted), sums))
    assert_close(found, wanted, tolerances=WITH_8_BITS)


def test_heads_that_two_blocks_share_out(device: str) -> None:
    """Each has a half of the values. The sums of weights, which one writes, are for both merges."""
    batch = Batch([1, 2], [900, 40], Shape(512, 2, 1, page_size=16, layout="HND"), device)
    assert_attends(_decode(batch), batch.expected(causal=True))


@on_gpu
def test_queries_of_8_bits_give_results_of_8_bits(device: str) -> None:
    batch = Batch([1, 1], [40, 3], _shape(4, dtype=E4M3), device)
    found, _ = _decode(batch)
    assert found.dtype is E4M3
    assert_close(found, batch.expected(causal=True)[0], tolerances=WITH_8_BITS)


def _visible(q_lens: list[int], kv_lens: list[int], device: str, **options: Any) -> torch.Tensor:
    """The keys that queries see: equal scores of values that are one at their own key's place."""
    batch = Batch(q_lens, kv_lens, _shape(), device)
    cache, pages = torch.zeros_like(batch.cache()), table(batch)
    for row, length in enumerate(kv_lens):
        for key in range(length):
            cache[int(pages[row, key // 16]), 1, :, key % 16, key] = 1.0
    out, _ = _decode(batch, kv_cache=cache, **options)
    return (out > 0).cpu()


@pytest.mark.parametrize("window", [-1, 6])
@pytest.mark.parametrize("q_lens", [[5, 5, 5], [7, 0, 3]], ids=["uniform", "ragged"])
def test_drafts_see_what_their_mask_says(
    q_lens: list[int], window: int, random: Random, device: str
) -> None:
    kv_lens = [40, 9, 60]
    masks = [torch.rand(n, n, generator=_seeded(random)) < 0.5 for n in q_lens]
    bits = packed(masks, max(q_lens))
    if len({*q_lens}) == 1:
        bits = bits.view(3, q_lens[0], -1)
    scale = torch.ones(1, device=device)
    options = {"mask": bits.to(device), "window_left": window, "bmm1_scale": scale}
    seen = _visible(q_lens, kv_lens, device, **options)
    row = 0
    for mask, drafted, length in zip(masks, q_lens, kv_lens, strict=True):
        for query in range(drafted):
            keys = torch.arange(64)
            wanted = (keys < length - drafted) | torch.isin(
                keys - (length - drafted), mask[query].nonzero()
            )
            if window >= 0:
                wanted &= keys >= length - drafted + query - window
            assert torch.equal(seen[row], wanted.expand(4, 64)), (drafted, query)
            row += 1


@pytest.mark.parametrize("is_ragged", [False, True], ids=["uniform", "ragged"])
def test_drafts_of_several_tiles(is_ragged: bool, random: Random, device: str) -> None:
    """From 17 to 64 rows, for a head of keys or in all: a tile has 16. Masks are of any bits."""
    most = random.randint(9, 64)
    group = random.choice([n for n in (1, 2, 3, 7) if 17 <= n * most <= 64] or [1])
    q_lens = [most, most, most]
    if is_ragged:
        q_lens = [most, 0, random.randint(1, most), 1, most]
    kv_lens = [n + random.choice((0, 1, 15, 16, 130, 700)) for n in q_lens]
    if is_ragged:
        kv_lens[1] = random.choice((0, 40))
    batch = Batch(q_lens, kv_lens, _shape(group), device, random.getrandbits(30))
    masks = [torch.rand(n, n, generator=_seeded(random)) < 0.5 for n in q_lens]
    masks = [mask | torch.eye(len(mask), dtype=torch.bool) for mask in masks]
    bits = packed(masks, most)
    scales = {"bmm2_scale": torch.full((1,), 0.5, device=device)}
    found, sums = _decode(batch, mask=bits.to(device), **scales)
    whole = [
        torch.cat([torch.ones(drafted, length - drafted, dtype=torch.bool), mask], 1)
        for mask, drafted, length in zip(masks, q_lens, kv_lens, strict=True)
    ]
    wanted, expected = batch.expected([mask.to(device) for mask in whole])
    assert_attends((found, sums), (wanted * 0.5, expected), (q_lens, kv_lens, group))
    window = random.choice((0, 5, most, 100))
    found = _decode(batch, window_left=window)
    said = (q_lens, kv_lens, group, window)
    assert_attends(found, batch.expected(causal=True, window_left=window), said)


def _seeded(random: Random) -> torch.Generator:
    return torch.Generator().manual_seed(random.getrandbits(30))


def test_drafts_without_a_mask_see_those_before(device: str) -> None:
    seen = _visible([3, 3], [20, 2], device)
    # Of three queries and two keys, the first is before all keys.
    assert seen.sum(-1)[:, 0].tolist() == [18, 19, 20, 0, 1, 2]


def test_scales_are_read_on_the_device(device: str) -> None:
    batch = Batch([1, 1], [300, 40], _shape(), device)
    wanted, sums = batch.expected(causal=True, sm_scale=0.3)
    v_scale = {"bmm2_scale": torch.tensor([0.5], device=device)}
    of_scores = torch.tensor([0.3], device=device)
    # With a mask, which hides nothing, as one kernel less is compiled.
    mask = packed([torch.ones(1, 1)] * 2, 1).to(device)
    for k_scale in (
        {"bmm1_scale": of_scores},
        {"bmm1_scale": 7.0, "bmm1_scale_log2": of_scores * 1.4426950408889634},
    ):
        found = _decode(batch, **k_scale, **v_scale, mask=mask)
        assert_attends(found, (wanted * 0.5, sums), k_scale)


def test_a_cache_is_a_tensor_or_a_pair_or_both_in_one(device: str) -> None:
    batch = Batch([1, 1], [70, 5], _shape(), device)
    cache = batch.cache()
    k, v = cache.unbind(1)
    together, _ = _decode(batch)
    apart, _ = _decode(batch, kv_cache=(k.contiguous(), v.contiguous()))
    assert torch.equal(together, apart)
    same, _ = _decode(batch, kv_cache=k.unsqueeze(1))
    assert torch.equal(same, _decode(batch, kv_cache=(k, k))[0])


def test_values_with_pages_of_their_own(device: str) -> None:
    batch = Batch([1, 1, 1], [70, 0, 600], _shape(), device)
    cache, tables = own_tables(batch)
    words = {"kv_cache": cache, "block_tables": tables, "uses_shared_paged_kv_idx": False}
    assert_attends(_decode(batch, **words), batch.expected(causal=True))


def test_what_is_given_is_written(device: str) -> None:
    batch = Batch([1, 1], [70, 0], _shape(), device)
    out, lse = torch.full_like(batch.q, 9.0), torch.full((2, 4), 9.0, device=device)
    found = _decode(batch, out=out, lse=lse, return_lse=False, o_scale=3.0)
    assert found is out
    wanted, sums = batch.expected(causal=True)
    assert_attends((out, lse), (wanted * 3.0, sums))


def test_less_memory_is_fewer_parts(device: str) -> None:
    batch = Batch([1], [1500], _shape(), device)
    of_part = 2 * 16 * 65 * 4
    small = torch.zeros((8 << 20) + 3 * of_part, dtype=torch.uint8, device=device)
    assert_attends(_decode(batch, small), batch.expected(causal=True))


def test_the_same_bits_again(device: str) -> None:
    batch = Batch([2] * 3, [900, 20, 0], _shape(), device)
    first, second = _decode(batch), _decode(batch)
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])


def test_xqa_s_own_arguments(device: str) -> None:
    batch = Batch([3, 3], [500, 40], _shape(layout="NHD"), device)
    k, v = batch.caches()
    q = batch.q.reshape(2, 1, 3, 4, 64)
    output = torch.empty_like(q)
    semaphores = torch.zeros(512, dtype=torch.int32, device=device)
    sinks = torch.tensor([[0.5, -1.0], [2.0, 0.0]], device=device)
    scales = {"q_scale": 2.0, "kv_scale": 0.25}
    lens = ints([500, 40], device).unsqueeze(1).view(torch.uint32)
    xqa(
        *(q, k, v, table(batch), lens, output, memory(device), semaphores, 2, 16, sinks),
        **scales,
        sliding_win_size=33,
        sm_count=2,
        rcp_out_scale=3.0,
        q_seq_len=3,
    )
    assert not bool(semaphores.any())
    options = {"causal": True, "window_left": 32, "sinks": sinks.flatten()}
    wanted, sums = batch.expected(sm_scale=0.5 * SCALE, **options)
    # rcp_out_scale is for results of 8 bits.
    assert_attends(output.view(6, 4, 64), (wanted * 0.25, sums))


def test_xqa_of_a_batch_returns_what_flashinfer_s_does(device: str) -> None:
    batch = Batch([3, 3], [50, 40], _shape(layout="NHD"), device)
    given = (batch.cache(), memory(device), table(batch), ints([50, 40], device), 64, SCALE)
    found = xqa_batch_decode_with_kv_cache(batch.q, *given, q_len_per_req=3)
    assert found.shape == (2, 3, 4, 64)
    expected = batch.expected(causal=True)
    assert_attends(found.view(6, 4, 64), expected)
    ragged = xqa_batch_decode_with_kv_cache(
        batch.q, *given, q_len_per_req=4, q_cu_seq_lens=starts(batch)
    )
    assert_attends(ragged, expected)


def test_the_arguments_of_cudnn_s(device: str) -> None:
    batch = Batch([1, 1], [50, 0], _shape(), device)
    sinks = torch.zeros(4, device=device)
    workspace = torch.full((12 << 20,), 255, dtype=torch.uint8, device=device)
    lens = ints([50, 0], device).view(2, 1, 1, 1)
    table_of, words = table(batch), {"return_lse": True, "sinks": sinks}
    found = cudnn_batch_decode_with_kv_cache(
        batch.q,
        *batch.caches(),
        SCALE,
        workspace,
        max_sequence_kv=1,
        actual_seq_lens_kv=lens,
        block_tables=table_of,
        **words,
    )
    assert_attends(found, batch.expected(causal=True, sinks=sinks))


@on_gpu
def test_a_graph_follows_other_lengths_and_allocates_nothing(random: Random) -> None:
    requests, pages = 6, 400
    shape = _shape(4, 128)
    cache = torch.zeros(pages, 2, 2, 16, 128, dtype=BF16, device="cuda")
    tables = torch.zeros(requests, 200, dtype=torch.int32, device="cuda")
    lens, workspace = ints([0] * requests, "cuda"), memory("cuda")
    q = torch.zeros(requests, shape.heads, 128, dtype=BF16, device="cuda")
    out, lse = torch.empty_like(q), torch.empty(requests, shape.heads, device="cuda")

    def run() -> None:
        trtllm_batch_decode_with_kv_cache(
            *(q, cache, workspace, tables, lens, 3200, 128**-0.5), out=out, lse=lse
        )

    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # A capture itself allocates the states of its random generators.
        before = torch.cuda.memory_stats()["allocation.all.allocated"]
        run()
        assert torch.cuda.memory_stats()["allocation.all.allocated"] == before
    for seed, kv_lens in enumerate(
        ([1] * requests, [3000, 0, 1, 64, 17, 900], [0] * requests, lengths(random, requests, 900))
    ):
        batch = Batch([1] * requests, kv_lens, shape, "cuda", seed)
        q.copy_(batch.q)
        cache[: len(batch.cache())].copy_(batch.cache())
        own = table(batch)
        tables.fill_(-(1 << 30))[:, : own.shape[1]].copy_(own)
        lens.copy_(ints(kv_lens, "cuda"))
        graph.replay()
        assert_attends((out, lse), batch.expected(causal=True), kv_lens)
        assert counters_are_zero(workspace)


@on_gpu
def test_two_streams_have_a_workspace_each() -> None:
    batches = [Batch([1] * 4, [3000, 9, 800, 64], _shape(4, 128), "cuda", n) for n in range(2)]
    memories = [memory("cuda") for _ in batches]
    streams = [torch.cuda.Stream() for _ in batches]
    torch.cuda.synchronize()
    found: list[Any] = [None, None]
    for _ in range(20):
        for n, stream in enumerate(streams):
            with torch.cuda.stream(stream):
                found[n] = _decode(batches[n], memories[n])
    torch.cuda.synchronize()
    for batch, one in zip(batches, found, strict=True):
        assert_attends(one, batch.expected(causal=True))
