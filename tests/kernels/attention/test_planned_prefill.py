"""Prefill as one call beside its traces: lengths, memory, offsets of cuDNN's, and refusals."""

from __future__ import annotations

import math
from itertools import accumulate
from random import Random
from typing import Any

import pytest
import torch

from fictl.kernels.attention._trace.axes import TOLERANCES
from fictl.kernels.attention.planned_prefill.op import (
    cudnn_batch_prefill_with_kv_cache,
    trtllm_batch_context_with_kv_cache,
)
from fictl.testing import assert_close

from .reference import Batch, Shape, assert_attends, lengths
from .tables import ints, moved, own_tables, starts, table

BF16, E4M3 = torch.bfloat16, torch.float8_e4m3fn
on_gpu = pytest.mark.needs_gpu


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def _shape(group: int = 2, dim: int = 64, **others: Any) -> Shape:
    return Shape(dim, 2 * group, 2, **{"page_size": 16, "layout": "HND", **others})


def _memory(device: str, size: int = 0) -> torch.Tensor:
    """Anything: nothing of this workspace needs to be zeros."""
    size = size or (64 if device == "cuda" else 4) << 20
    return torch.full((size,), 255, dtype=torch.uint8, device=device)


def _context(batch: Batch, **options: Any) -> Any:
    given = {"kv_layout": batch.shape.layout, "return_lse": True, **options}
    return trtllm_batch_context_with_kv_cache(
        batch.q,
        given.pop("kv_cache", batch.cache()),
        given.pop("workspace", _memory(batch.device)),
        given.pop("block_tables", table(batch)),
        given.pop("seq_lens", ints([*batch.kv_lens], batch.device)),
        given.pop("max_q_len", max(batch.q_lens)),
        1,
        given.pop("bmm1_scale", batch.shape.dim**-0.5),
        given.pop("bmm2_scale", 1.0),
        given.pop("batch_size", len(batch.kv_lens)),
        given.pop("cum_seq_lens_q", starts(batch)),
        starts(batch),
        **given,
    )


@pytest.mark.parametrize("most", [4, 40, 200], ids=["16-rows", "64-rows", "128-rows"])
def test_any_lengths(most: int, random: Random, device: str) -> None:
    for _ in range(12 if device == "cuda" else 2):
        q_lens = [most, *(random.randint(0, most) for _ in range(2)), most]
        kv_lens = lengths(random, 4, 600)
        shape = _shape(random.choice((2, 3)), layout=random.choice(("NHD", "HND")))
        batch = Batch(q_lens, kv_lens, shape, device, random.getrandbits(30))
        words = {"causal": random.random() < 0.7, "window_left": random.choice((-1, 0, 50))}
        sinks = torch.randn(shape.heads, device=device) if random.random() < 0.5 else None
        expected = batch.expected(**words, sinks=sinks)
        assert_attends(_context(batch, **words, sinks=sinks), expected, (q_lens, kv_lens, words))


@pytest.mark.parametrize("causal", [True, False])
def test_a_long_request_is_split(causal: bool, device: str) -> None:
    batch = Batch([70, 1], [1900, 30], _shape(), device)
    memory = _memory(device)
    assert_attends(_context(batch, causal=causal, workspace=memory), batch.expected(causal=causal))
    # Partial results are behind the list of work.
    assert bool((memory[1 << 16 :] != 255).any())
    whole = _context(batch, causal=causal, workspace=_memory(device, 1 << 15))
    assert_attends(whole, batch.expected(causal=causal))


@pytest.mark.parametrize(
    ("dim", "dtype", "kv"),
    [
        pytest.param(128, BF16, E4M3, marks=on_gpu),
        pytest.param(256, BF16, BF16, marks=on_gpu),
        pytest.param(128, torch.float16, torch.float16, marks=on_gpu),
        pytest.param(128, E4M3, E4M3, marks=on_gpu),
    ],
)
def test_dtypes_and_dims(dim: int, dtype: torch.dtype, kv: torch.dtype, device: str) -> None:
    shape = _shape(4, dim, dtype=dtype, kv_dtype=kv)
    batch = Batch([300, 1, 40, 0], [700, 33, 40, 9], shape, device)
    factors = {
        "bmm1_scale": torch.tensor([dim**-0.5], device=device),
        "bmm2_scale": torch.tensor([0.5], device=device),
    }
    wanted, sums = batch.expected(causal=True)
    for scales in ({"bmm2_scale": 0.5}, factors):
        found, lse = _context(batch, **scales, out_dtype=BF16 if dtype is E4M3 else dtype)
        # Queries of 8 bits have weights of 8 bits.
        bounds = {"bfloat16": (4e-2, 2e-2)} if dtype is E4M3 else TOLERANCES
        assert_close(found, wanted * 0.5, tolerances=bounds)
        assert_close(lse, sums, "lse", {"float32": (1e-4, 4e-3)})


@pytest.mark.parametrize("units", ["tokens", "elements"])
@pytest.mark.parametrize("in_pages", [True, False])
def test_the_arguments_of_cudnn_s(in_pages: bool, units: str, device: str) -> None:
    batch = Batch([20, 0, 30], [25, 9, 40], _shape(layout="HND" if in_pages else "NHD"), device)
    caches = batch.caches() if in_pages else batch.ragged()
    tokens = [list(accumulate(lens, initial=0)) for lens in (batch.q_lens, batch.kv_lens)]
    sizes = (1, 1) if units == "tokens" else (4 * 64, 2 * 64)
    q_at, kv_at = (
        ints([n * size for n in ends], device) for ends, size in zip(tokens, sizes, strict=True)
    )
    lens = [ints([*x], device).view(-1, 1, 1, 1) for x in (batch.q_lens, batch.kv_lens)]
    words: dict[str, Any] = {"block_tables": table(batch)} if in_pages else {}
    if not in_pages:
        words |= {"batch_offsets_k": kv_at, "batch_offsets_v": kv_at}
    expected, sums = batch.expected(causal=True)
    padded = torch.full((3, 30, 4), -math.inf, dtype=torch.float64, device=device)
    padded[0, :20], padded[2] = sums[:20], sums[20:]
    for base, factor in (("log2", 1.0), ("ln", math.log(2.0))):
        found, lse = cudnn_batch_prefill_with_kv_cache(
            *(batch.q, *caches, 64**-0.5, _memory(device)),
            max_token_per_sequence=30,
            max_sequence_kv=1,
            actual_seq_lens_q=lens[0],
            actual_seq_lens_kv=lens[1],
            causal=True,
            return_lse=True,
            batch_offsets_q=q_at,
            batch_offsets_o=q_at,
            batch_offsets_units=units,
            lse_base=base,
            **words,
        )
        assert lse is not None
        assert_attends((found, lse), (expected, padded * factor))


def test_one_request_of_cudnn_s_needs_no_offsets(device: str) -> None:
    batch = Batch([5], [9], _shape(layout="NHD"), device)
    found, none = cudnn_batch_prefill_with_kv_cache(
        *(batch.q, *batch.ragged(), 64**-0.5, _memory(device)),
        max_token_per_sequence=5,
        max_sequence_kv=9,
        actual_seq_lens_q=ints([5], device),
        actual_seq_lens_kv=ints([9], device),
        causal=False,
        return_lse=False,
    )
    assert none is None
    assert_attends(found, batch.expected())


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"kv_cache_sf": ()}, ValueError, "'kv_cache_sf' is given, and the cache has dtype"),
    ({"uses_shared_paged_kv_idx": False}, ValueError, r"it is \(requests, 2, most_pages\)"),
    ({"out_dtype": "nvfp4"}, NotImplementedError, "results of 4 bits are not here"),
    ({"backend": "cake"}, NotImplementedError, "'backend' is 'cake'"),
    ({"batch_size": 3}, ValueError, r"'block_tables' has shape .*; by batch_size it is \(3, most"),
    ({"cum_seq_lens_q": torch.zeros(5, dtype=torch.int32)}, ValueError, "'cum_seq_lens_q' has sh"),
    ({"seq_lens": torch.zeros(2)}, TypeError, "'seq_lens' has dtype float32"),
    (
        {"workspace": torch.zeros(9)},
        ValueError,
        "'workspace_buffer' has 36 bytes; the list of work",
    ),
    ({"sinks": [1, 2]}, ValueError, "'sinks' is a list; pass a tensor of a number a head"),
    # Without lengths, a GPU would read from a null pointer.
    ({"seq_lens": None}, ValueError, "'seq_lens' is None; pass a tensor on the device"),
    ({"cum_seq_lens_q": None}, ValueError, "'cum_seq_lens_q' is None; pass a tensor on the device"),
    ({"block_tables": None}, ValueError, "'block_tables' has shape None; by batch_size"),
    # Offsets are one more than lengths, and are not mistaken for them.
    ({"seq_lens": torch.zeros(3, dtype=torch.int32)}, ValueError, r"'seq_lens' .* it has 2 elem"),
    ({"max_q_len": None}, ValueError, "'max_q_len' is None, 'query' has shape"),
    ({"max_q_len": 0}, ValueError, r"'max_q_len' is 0, 'query' has shape \(6, 4, 64\)"),
    ({"kv_cache": (None, None)}, TypeError, "'kv_cache' is a tuple; pass a tensor, or a tuple"),
    ({"workspace": None}, ValueError, "'workspace_buffer' is None; pass a contiguous tensor"),
    (
        {"out": torch.zeros(6, 4, 64, dtype=torch.bfloat16), "out_dtype": torch.float16},
        ValueError,
        "'out' has dtype torch.bfloat16, and 'out_dtype' is torch.float16",
    ),
]


@pytest.mark.parametrize(("options", "kind", "message"), REFUSED)
def test_it_is_refused_in_words(
    options: dict[str, Any], kind: type[Exception], message: str, device: str
) -> None:
    with pytest.raises(kind, match=message):
        _context(Batch([5, 1], [9, 3], _shape(), device), **moved(options, device))


def test_a_workspace_whose_list_would_not_be_aligned(device: str) -> None:
    """An item of the list is loaded at once: a GPU would end with a fault that none recovers from."""
    batch = Batch([5, 1], [9, 3], _shape(), device)
    with pytest.raises(ValueError, match="'workspace_buffer' is not aligned to 16 bytes"):
        _context(batch, workspace=_memory(device)[4:])


def test_strides_that_no_kernel_takes(device: str) -> None:
    batch = Batch([5, 1], [9, 3], _shape(), device)
    with pytest.raises(ValueError, match=r"'workspace_buffer' has strides \(9, 1\); pass a contig"):
        _context(batch, workspace=torch.zeros(9, 9, device=device)[:, 1:])
    out = torch.zeros(1, 4, 64, dtype=torch.bfloat16, device=device).expand(6, 4, 64)
    with pytest.raises(ValueError, match=r"'out' has .* strides \(0, 64, 1\): its rows overlap"):
        _context(batch, out=out)


def test_a_workspace_of_an_odd_number_of_bytes(device: str) -> None:
    batch = Batch([5, 1], [9, 3], _shape(), device)
    found = _context(batch, workspace=_memory(device, (4 << 20) + 1))
    assert_attends(found, batch.expected(causal=True))


def test_more_pages_than_an_int32_counts(device: str) -> None:
    batch = Batch([5, 1], [9, 3], _shape(), device)
    wide = torch.empty(2, 1 << 28, dtype=torch.int32, device="meta")
    with pytest.raises(ValueError, match=r"'block_tables' has shape .*; an int32 does not count"):
        _context(batch, block_tables=wide)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_offsets_units": "bytes"}, "'batch_offsets_units' is 'bytes'"),
        ({"actual_seq_lens_q": None}, "'actual_seq_lens_q' is None; batch_offsets_q tells"),
        ({"actual_seq_lens_kv": None}, "'actual_seq_lens_kv' is None; batch_offsets_k tells"),
        ({"batch_offsets_q": None}, "'batch_offsets_q' is None; 2 requests need to be told apart"),
        ({"batch_offsets_o": torch.tensor([0, 9, 9])}, "'batch_offsets_o' is"),
        ({"k_scale": torch.ones(1)}, "'k_scale' is given; scales are for queries of fp8"),
        ({"lse": torch.zeros(3)}, r"'lse' has shape \(3,\)"),
        (
            {"block_tables": torch.zeros(1, 9, dtype=torch.int32)},
            r"'block_tables' has shape \(1, 9\); it has a row for each of 2 requests",
        ),
        ({"max_token_per_sequence": 0}, "'max_token_per_sequence' is 0, 'q' has shape"),
        (
            {"out": torch.zeros(6, 4, 64, dtype=torch.bfloat16), "o_data_type": "float16"},
            "'out' has dtype torch.bfloat16, and 'o_data_type' is float16",
        ),
    ],
)
def test_cudnn_s_arguments_are_refused_in_words(
    options: dict[str, Any], message: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_VALIDATE_INPUTS", "1")
    batch = Batch([5, 1], [9, 3], _shape(), device)
    q_at = ints([0, 5 * 256, 6 * 256], device)
    given: dict[str, Any] = {
        "actual_seq_lens_q": ints([5, 1], device),
        "actual_seq_lens_kv": ints([9, 3], device),
        "block_tables": table(batch),
        "batch_offsets_q": q_at,
        "batch_offsets_o": q_at,
        "max_token_per_sequence": 5,
        **options,
    }
    given = moved(given, device)
    with pytest.raises(ValueError, match=message):
        cudnn_batch_prefill_with_kv_cache(
            *(batch.q, *batch.caches(), 0.125, _memory(device)),
            max_sequence_kv=9,
            causal=True,
            return_lse=False,
            **given,
        )


@on_gpu
def test_a_graph_follows_other_lengths_and_allocates_nothing(random: Random) -> None:
    requests, tokens, pages = 4, 600, 900
    shape = _shape(4, 128)
    cache = torch.zeros(pages, 2, 2, 16, 128, dtype=BF16, device="cuda")
    tables = torch.zeros(requests, 250, dtype=torch.int32, device="cuda")
    lens, at = ints([0] * requests, "cuda"), ints([0] * (requests + 1), "cuda")
    q = torch.zeros(tokens, shape.heads, 128, dtype=BF16, device="cuda")
    out, lse = torch.empty_like(q), torch.empty(tokens, shape.heads, device="cuda")
    workspace = _memory("cuda")

    def run() -> None:
        trtllm_batch_context_with_kv_cache(
            *(q, cache, workspace, tables, lens, tokens, 4000, 128**-0.5, 1.0, requests, at, at),
            out=out,
            lse=lse,
        )

    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # A capture itself allocates the states of its random generators.
        before = torch.cuda.memory_stats()["allocation.all.allocated"]
        run()
        assert torch.cuda.memory_stats()["allocation.all.allocated"] == before
    for seed, (q_lens, kv_lens) in enumerate(
        [
            ([600, 0, 0, 0], [3900, 7, 0, 5]),
            ([1] * 4, [900, 0, 17, 300]),
            ([150] * 4, [150] * 4),
            ([0] * 4, [9] * 4),
            ([random.randint(0, 150) for _ in range(4)], lengths(random, 4, 900)),
        ]
    ):
        batch = Batch(q_lens, kv_lens, shape, "cuda", seed)
        used = len(batch.q)
        q[:used].copy_(batch.q)
        cache[: len(batch.cache())].copy_(batch.cache())
        own = table(batch)
        tables.fill_(-(1 << 30))[:, : own.shape[1]].copy_(own)
        lens.copy_(ints(kv_lens, "cuda"))
        at.copy_(starts(batch))
        graph.replay()
        assert_attends((out[:used], lse[:used]), batch.expected(causal=True), (q_lens, kv_lens))


@pytest.mark.parametrize("most", [4, 40], ids=["16-rows", "64-rows"])
def test_results_of_8_bits(most: int, device: str) -> None:
    batch = Batch([most, 0, 3], [70, 9, 300], _shape(), device)
    found, lse = _context(batch, out_dtype=E4M3, bmm2_scale=0.5)
    assert found.dtype is E4M3
    wanted, sums = batch.expected(causal=True)
    assert_close(found, wanted * 0.5, tolerances={"float8_e4m3fn": (8.3e-2, 1.8e-2)})
    assert_attends((torch.zeros_like(wanted), lse), (torch.zeros_like(wanted), sums))


@pytest.mark.parametrize("most", [4, 40], ids=["16-rows", "64-rows"])
def test_values_with_pages_of_their_own(most: int, device: str) -> None:
    batch = Batch([most, 0, 3], [70, 9, 300], _shape(), device)
    cache, tables = own_tables(batch)
    found = _context(batch, kv_cache=cache, block_tables=tables, uses_shared_paged_kv_idx=False)
    assert_attends(found, batch.expected(causal=True))
