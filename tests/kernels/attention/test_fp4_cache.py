"""Decode and prefill over caches of four bits: what is read and what is not, NaN, ranges, refusals."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import pytest
import torch

from fictl.kernels.attention.decode.op import BatchDecodeWithPagedKVCacheWrapper
from fictl.kernels.attention.prefill.op import BatchPrefillWithPagedKVCacheWrapper
from fictl.kernels.quantization.kv_fp4.trace import dequantized

HEADS, KV_HEADS = 4, 2
K_SCALE, V_SCALE = 0.02, 0.05


class Batch:
    """Requests of these lengths, whose pages are in random order; all that they do not have is NaN."""

    def __init__(
        self,
        device: str,
        dim: int,
        page_size: int,
        lengths: list[int],
        layout: str,
        q_len: int,
        heads: int = HEADS,
    ) -> None:
        self.device, self.dim, self.page_size, self.layout = device, dim, page_size, layout
        self.heads = heads
        self.lengths, self.q_len = lengths, q_len
        counts = [-(-length // page_size) for length in lengths]
        used = sum(counts)
        shape = used + 2, 2, page_size, KV_HEADS
        self.packed = torch.randint(0, 256, (*shape, dim // 2)).to(torch.uint8)
        self.scales = torch.full((*shape, dim // 16), 0x7F, dtype=torch.uint8)
        self.indices = torch.randperm(used + 2)[:used].int()
        starts = [0, *accumulate(counts)]
        self.indptr = torch.tensor(starts, dtype=torch.int32)
        self.last = torch.tensor([(n - 1) % page_size + 1 if n else 0 for n in lengths]).int()
        self.slots = [
            (self.indices[start + torch.arange(n) // page_size].long(), torch.arange(n) % page_size)
            for start, n in zip(starts, lengths, strict=False)
        ]
        for page, slot in self.slots:
            made = torch.randint(0, 0x60, (len(page), 2, KV_HEADS, dim // 16))
            self.scales[page, :, slot] = made.to(torch.uint8)

    def caches(self, stacked: bool = True) -> tuple[Any, Any]:
        """The cache and its scales, as run() takes them."""
        both = []
        for x in (self.packed, self.scales):
            laid_out = x.transpose(2, 3).contiguous() if self.layout == "HND" else x
            there = laid_out.to(self.device)
            both.append(there if stacked else (there[:, 0], there[:, 1]))
        return both[0], both[1]

    def expected(self, q: torch.Tensor, window: int = -1) -> tuple[torch.Tensor, torch.Tensor]:
        """In fp64; each query sees the keys up to its own."""
        outs, sums = [], []
        q = q.cpu().double().view(len(self.lengths), self.q_len, self.heads, self.dim)
        for of_request, (page, slot) in zip(q, self.slots, strict=True):
            k, v = (
                dequantized(
                    self.packed[page, part, slot],
                    self.scales[page, part, slot],
                    torch.tensor(scale),
                )
                .double()
                .repeat_interleave(self.heads // KV_HEADS, 1)
                for part, scale in enumerate((K_SCALE, V_SCALE))
            )
            scores = torch.einsum("qhd,khd->qhk", of_request, k) / math.sqrt(self.dim)
            key, own = torch.arange(len(page)), len(page) - self.q_len + torch.arange(self.q_len)
            sees = key <= own[:, None]
            if window >= 0:
                sees &= key >= own[:, None] - window
            scores = scores.masked_fill(~sees[:, None], -torch.inf)
            outs.append(torch.einsum("qhk,khd->qhd", scores.softmax(-1).nan_to_num(), v))
            sums.append(scores.logsumexp(-1) * math.log2(math.e))
        return torch.cat(outs), torch.cat(sums)

    def queries(self, dtype: torch.dtype) -> torch.Tensor:
        return torch.randn(
            len(self.lengths) * self.q_len, self.heads, self.dim, device=self.device
        ).to(dtype)

    def decode(
        self, q: torch.Tensor, stacked: bool = True, **how: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        cache, scales = self.caches(stacked)
        wrapper = BatchDecodeWithPagedKVCacheWrapper(_workspace(self.device), self.layout)
        wrapper.plan(
            *(x.to(self.device) for x in (self.indptr, self.indices, self.last)),
            *(self.heads, KV_HEADS, self.dim, self.page_size),
            q_data_type=q.dtype,
            kv_data_type=torch.uint8,
            q_len_per_req=self.q_len,
            **how,
        )
        return wrapper.run(
            q, cache, k_scale=K_SCALE, v_scale=V_SCALE, kv_cache_sf=scales, return_lse=True
        )


def _workspace(device: str) -> torch.Tensor:
    return torch.empty(1 << 22, dtype=torch.uint8, device=device)


def _close(got: Any, want: Any) -> None:
    out, lse = (x.cpu().double() for x in got)
    torch.testing.assert_close(out, want[0], rtol=2e-2, atol=2e-2, equal_nan=True)
    torch.testing.assert_close(lse, want[1], rtol=1e-2, atol=1e-2, equal_nan=True)


def test_pages_within_tiles_and_heads_before_slots(device: str) -> None:
    batch = Batch(device, 64, 5, [33, 1, 12, 5], "HND", 1)
    q = batch.queries(torch.float16)
    _close(batch.decode(q, stacked=False), batch.expected(q))
    _close(batch.decode(q, window_left=7), batch.expected(q, 7))


@pytest.mark.parametrize(
    ("group", "q_len"), [(1, 1), (7, 1), (8, 1), (4, 2), (2, 4), (9, 1), (3, 3), (16, 1), (1, 16)]
)
def test_rows_of_any_number(group: int, q_len: int, device: str) -> None:
    """Up to 8 have tiles of their own, where lanes have other shares."""
    batch = Batch(device, 64, 5, [33, 40, 17], "HND", q_len, group * KV_HEADS)
    q = batch.queries(torch.float16)
    _close(batch.decode(q, fixed_split_size=4), batch.expected(q))


def test_tiles_within_pages_split_keys_and_a_request_without_any(device: str) -> None:
    batch = Batch(device, 128, 32, [70, 0, 32], "NHD", 1)
    q = batch.queries(torch.bfloat16)
    got, want = batch.decode(q, fixed_split_size=1), batch.expected(q)
    _close(got, (want[0], want[1]))
    assert not got[0][1].any()


def test_queries_beyond_what_fp16_holds(device: str) -> None:
    """Rows far above and below its range, and rows with both, are as exact as others."""
    batch = Batch(device, 128, 32, [40, 40, 40, 40], "NHD", 1)
    q = batch.queries(torch.bfloat16)
    q[0] *= 1e5
    q[1] *= 1e-30
    q[2, :, 0] *= 1e5
    q[3] = 0
    _, lse = batch.decode(q)
    want = batch.expected(q)[1]
    torch.testing.assert_close(lse.cpu().double(), want, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    ("scale", "group"), [(0x7F, 2), (0xFF, 2), (0xB8, 2), (0x7F, 8), (0xB8, 9)]
)
def test_a_scale_that_is_no_number_spoils_what_it_is_of(
    scale: int, group: int, device: str
) -> None:
    batch = Batch(device, 128, 32, [40, 40, 40], "NHD", 1, group * KV_HEADS)
    page, slot = batch.slots[1]
    batch.scales[page[33], 0, slot[33], 1, 6] = scale
    page, slot = batch.slots[2]
    batch.scales[page[9], 1, slot[9], 0, 3] = scale
    out, lse = batch.decode(batch.queries(torch.bfloat16))
    assert out[1, group:].isnan().all()
    assert lse[1, group:].isnan().all()
    assert out[2, :group, 48:64].isnan().all()
    clean = out.clone()
    clean[1, group:] = clean[2, :group, 48:64] = 0
    assert bool(clean.isfinite().all())


@pytest.mark.parametrize("spoilt", [False, True])
def test_prefill_of_several_queries(spoilt: bool, device: str) -> None:
    batch = Batch(device, 64, 5, [37, 40], "HND", 30)
    if spoilt:
        page, slot = batch.slots[0]
        batch.scales[page[20], 1, slot[20], 0, 2] = 0x7F
    q = batch.queries(torch.bfloat16)
    cache, scales = batch.caches()
    wrapper = BatchPrefillWithPagedKVCacheWrapper(_workspace(device), "HND")
    queries = torch.tensor([0, 30, 60], dtype=torch.int32)
    wrapper.plan(
        *(x.to(device) for x in (queries, batch.indptr, batch.indices, batch.last)),
        *(HEADS, KV_HEADS, 64, 5),
        causal=True,
        q_data_type=q.dtype,
        kv_data_type=torch.uint8,
    )
    out, lse = wrapper.run(
        q, cache, k_scale=K_SCALE, v_scale=V_SCALE, kv_cache_sf=scales, return_lse=True
    )
    want = batch.expected(q)
    if spoilt:
        assert out[13:30, :2, 32:48].isnan().all()
        assert want[0][13:30, :2, 32:48].isnan().all()
        out, want = out[30:], (want[0][30:], want[1][30:])
        lse = lse[30:]
    _close((out, lse), want)


def _planned(device: str, **how: Any) -> tuple[Any, Batch, torch.Tensor]:
    batch = Batch(device, 64, 4, [5], "NHD", 1)
    wrapper = BatchDecodeWithPagedKVCacheWrapper(_workspace(device))
    named = {"head_dim": 64, "kv_data_type": torch.uint8, "q_data_type": torch.float16, **how}
    wrapper.plan(batch.indptr, batch.indices, batch.last, HEADS, KV_HEADS, page_size=4, **named)
    return wrapper, batch, batch.queries(torch.float16)


def test_scales_are_asked_for_and_refused_where_there_are_none(device: str) -> None:
    wrapper, batch, q = _planned(device)
    cache, scales = batch.caches()
    with pytest.raises(ValueError, match=r"'kv_cache_sf' is None; a cache of 4 bits has a scale"):
        wrapper.run(q, cache)
    with pytest.raises(ValueError, match=r"'kv_cache_sf' has shape .*; it is \(pages, 2, page"):
        wrapper.run(q, cache, kv_cache_sf=scales[:, 0])
    with pytest.raises(ValueError, match=r"'paged_kv_cache' .* heads of 128 values"):
        wrapper.run(q, torch.cat([cache, cache], -1), kv_cache_sf=scales)
    wrapper, batch, q = _planned(device, kv_data_type=torch.float16)
    with pytest.raises(ValueError, match=r"'kv_cache_sf' is given, plan\(\) was told keys of"):
        wrapper.run(q, cache, kv_cache_sf=scales)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"head_dim": 80}, r"heads have 80 elements, of values 80; of 4 bits both have 64, 128"),
        ({"pos_encoding_mode": "ROPE_LLAMA"}, "rotate before they are quantized"),
    ],
)
def test_what_has_no_kernel_is_refused(how: dict[str, Any], message: str, device: str) -> None:
    with pytest.raises(NotImplementedError, match=message):
        _planned(device, **how)


def test_scales_of_other_pages_or_places_are_refused(device: str) -> None:
    wrapper, batch, q = _planned(device)
    cache, scales = batch.caches()
    for wrong, message in (
        (scales[:-1], "it has the cache's"),
        (scales[..., :2], r"2 x 2; expected 4 slots of 2 x 4"),
        (torch.cat([scales, scales[..., :1]], -1)[..., 1:], "aligned to 4 bytes"),
    ):
        with pytest.raises(ValueError, match=rf"argument 'kv_cache_sf' .*{message}"):
            wrapper.run(q, cache, kv_cache_sf=wrong)
    with pytest.raises(TypeError, match=r"'kv_cache_sf' has dtype int8; accepted: float8_e4m3fn"):
        wrapper.run(q, cache, kv_cache_sf=scales.view(torch.int8))
