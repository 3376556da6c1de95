"""Batches of requests for tests of attention, and what is right for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from random import Random
from typing import Any

import torch

from fictl.kernels.attention._trace.axes import TOLERANCES
from fictl.kernels.attention._trace.reference import attention
from fictl.testing import assert_close

Sums = tuple[torch.Tensor, torch.Tensor]
# Rotated queries and keys are rounded once more before they are multiplied.
OF_ROPE = {"float16": (2e-2, 1e-2), "bfloat16": (8e-2, 8e-2)}


@dataclass(frozen=True)
class Shape:
    """Of heads: what a kernel is compiled for, and how many there are."""

    dim: int
    heads: int = 4
    kv_heads: int = 2
    dtype: torch.dtype = torch.bfloat16
    kv_dtype: torch.dtype | None = None
    layout: str = "NHD"
    page_size: int = 4
    dim_v: int = 0  # Of a head of values; 0 is dim.

    @property
    def value_dim(self) -> int:
        return self.dim_v or self.dim


@dataclass(frozen=True)
class Batch:
    """Requests of these lengths; where nothing may be read there is NaN.

    `octaves`: queries are up to so many powers of two smaller than 2^16, and their elements differ by
    up to 20.
    """

    q_lens: Sequence[int]
    kv_lens: Sequence[int]
    shape: Shape
    device: str
    seed: int = 0
    octaves: int = 0

    @cached_property
    def _made(self) -> tuple[torch.Tensor, list[torch.Tensor], list[torch.Tensor]]:
        generator = torch.Generator().manual_seed(self.seed)
        shape = self.shape

        def randn(rows: int, heads: int, dim: int, dtype: torch.dtype) -> torch.Tensor:
            made = torch.randn((rows, heads, dim), generator=generator)
            return made.to(dtype).to(self.device)

        kv = shape.kv_dtype or shape.dtype
        q = randn(sum(self.q_lens), shape.heads, shape.dim, shape.dtype)
        if self.octaves:
            rows = (*q.shape[:2], 1)
            of_rows = torch.randint(16 - self.octaves, 17, rows, generator=generator)
            of_elements = torch.randint(-20, 1, q.shape, generator=generator)
            factors = torch.exp2((of_rows + of_elements).float()).to(self.device)
            q = (q.float() * factors).to(q.dtype)
        keys, values = (
            [randn(length, shape.kv_heads, dim, kv) for length in self.kv_lens]
            for dim in (shape.dim, shape.value_dim)
        )
        return q, keys, values

    @cached_property
    def q(self) -> torch.Tensor:
        """Rows of which others hold the rest, as a projection of all heads gives them."""
        made = self._made[0]
        wide = made.new_full((len(made), self.shape.heads + 3, self.shape.dim), torch.nan)
        wide[:, 1:-2] = made
        return wide[:, 1:-2]

    @property
    def qo_indptr(self) -> torch.Tensor:
        return _indptr(self.q_lens)

    @property
    def kv_indptr(self) -> torch.Tensor:
        return _indptr(self.kv_lens)

    def ragged(self) -> Sums:
        """Keys and values behind one another."""
        _, keys, values = self._made
        return self._laid_out(torch.cat(keys)), self._laid_out(torch.cat(values))

    def _laid_out(self, x: torch.Tensor) -> torch.Tensor:
        return x.transpose(0, 1).contiguous() if self.shape.layout == "HND" else x

    @cached_property
    def page_counts(self) -> list[int]:
        return [-(-length // self.shape.page_size) for length in self.kv_lens]

    def page_table(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """(indptr, indices, last_page_len), on the host."""
        size = self.shape.page_size
        last = [(length - 1) % size + 1 if length else 0 for length in self.kv_lens]
        return _indptr(self.page_counts), self._pages.int(), torch.tensor(last, dtype=torch.int32)

    @cached_property
    def _pages(self) -> torch.Tensor:
        """Of some more than there are requests for, in any order."""
        used = sum(self.page_counts)
        generator = torch.Generator().manual_seed(self.seed)
        return torch.randperm(used + 3, generator=generator)[:used]

    def cache(self) -> torch.Tensor:
        """(pages, 2, page_size, kv_heads, dim), or HND; slots of no position are NaN."""
        return torch.stack(self.caches(), 1)

    def caches(self) -> Sums:
        """The same of keys and of values, each with its own dim."""
        _, keys, values = self._made
        return self._in_pages(keys, self.shape.dim), self._in_pages(values, self.shape.value_dim)

    def _in_pages(self, tokens: list[torch.Tensor], dim: int) -> torch.Tensor:
        shape = self.shape
        dtype = shape.kv_dtype or shape.dtype
        size = (len(self._pages) + 3, shape.page_size, shape.kv_heads, dim)
        cache = torch.full(size, torch.nan, device=self.device).to(dtype)
        begin = 0
        for pages, rows in zip(self.page_counts, tokens, strict=True):
            at = self._pages[begin : begin + pages].to(self.device)
            room = torch.full(
                (pages * shape.page_size, *rows.shape[1:]), torch.nan, device=self.device
            )
            room[: len(rows)] = rows.float()
            cache[at] = room.to(dtype).view(pages, shape.page_size, *rows.shape[1:])
            begin += pages
        return cache.transpose(1, 2).contiguous() if shape.layout == "HND" else cache

    def expected(self, masks: Sequence[torch.Tensor] | None = None, **options: Any) -> Sums:
        """(out, lse) of all requests, by the reference; masks are (q_len, kv_len) of each."""
        q, keys, values = self._made
        found, begin = [], 0
        for i, (length, k, v) in enumerate(zip(self.q_lens, keys, values, strict=True)):
            mask = masks[i] if masks is not None else None
            mine = q[begin : begin + length]
            found.append(attention(mine, k, v, mask=mask, **options))
            begin += length
        outs, sums = zip(*found, strict=True)
        return torch.cat(outs), torch.cat(sums)


def _indptr(lengths: Sequence[int]) -> torch.Tensor:
    return torch.tensor([0, *accumulate(lengths)], dtype=torch.int32)


def assert_attends(
    found: Sums | torch.Tensor, expected: Sums, said: object = "", *, rope: bool = False
) -> None:
    """Result and, where there is one, its lse; `said` is how it was called."""
    out, lse = found if isinstance(found, tuple) else (found, None)
    wanted_out, wanted_lse = expected
    try:
        assert_close(out, wanted_out, tolerances=OF_ROPE if rope else TOLERANCES)
        if lse is not None:
            assert_close(lse, wanted_lse, "lse", {"float32": (1e-4, 8e-2 if rope else 4e-3)})
    except AssertionError as error:
        raise AssertionError(f"{error}\n{said}") from None


def lengths(random: Random, requests: int, most: int) -> list[int]:
    """Ragged ones: 0, 1, the borders of tiles, and any."""
    usual = [0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 256, 257]
    known = [n for n in usual if n <= most]
    return [
        random.choice(known) if random.random() < 0.5 else random.randint(0, most)
        for _ in range(requests)
    ]


def workspace(device: str) -> torch.Tensor:
    return torch.empty((64 if device == "cuda" else 4) << 20, dtype=torch.uint8, device=device)
