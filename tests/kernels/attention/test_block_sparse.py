"""Tests of block-sparse attention beside its traces: any masks, late reasons, and refusals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import pytest
import torch

from fictl.kernels.attention._trace.reference import attention
from fictl.kernels.attention.block_sparse.op import (
    BlockSparseAttentionWrapper,
    VariableBlockSparseAttentionWrapper,
)
from fictl.ops import segment_packbits

from .reference import Sums, assert_attends, workspace

DIM, BF16 = 64, torch.bfloat16
TIMES = 4


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


def ints(*values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def _sizes(random: Random, blocks: int, tokens: int) -> list[int]:
    """As many as add up; some are 0."""
    cuts = sorted(random.randint(0, tokens) for _ in range(blocks - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, tokens], strict=True)]


@dataclass(frozen=True)
class Mask:
    """A mask of blocks of any sizes, and tokens under it."""

    seed: int
    device: str
    kv_heads: int = 2
    group: int = 2
    queries: int = 90
    keys: int = 150
    blocks: tuple[int, int] = (5, 40)
    share: float = 0.4

    @cached_property
    def drawn(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        random = Random(self.seed)
        generator = torch.Generator().manual_seed(self.seed)
        rows, cols = self.blocks
        selected = torch.rand(self.kv_heads, rows, cols, generator=generator) < self.share
        selected[0, 0] = False
        row_sizes = ints(*(_sizes(random, rows, self.queries) for _ in range(self.kv_heads)))
        col_sizes = ints(*(_sizes(random, cols, self.keys) for _ in range(self.kv_heads)))
        return selected, row_sizes, col_sizes

    @cached_property
    def dense(self) -> torch.Tensor:
        """(kv_heads, queries, keys)."""
        heads = zip(*self.drawn, strict=True)
        return torch.stack([m.repeat_interleave(r, 0).repeat_interleave(c, 1) for m, r, c in heads])

    @cached_property
    def tensors(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(self.seed)

        def randn(heads: int, tokens: int) -> torch.Tensor:
            return torch.randn(heads, tokens, DIM, generator=generator).to(BF16)

        q = randn(self.kv_heads * self.group, self.queries)
        return q, randn(self.kv_heads, self.keys), randn(self.kv_heads, self.keys)

    def poisoned(self) -> list[torch.Tensor]:
        """Queries between rows of NaN; keys that nobody selects are NaN."""
        q, k, v = self.tensors
        wide = q.new_full((len(q), self.queries, DIM + 8), torch.nan)
        wide[..., :DIM] = q
        unseen = ~self.dense.any(1)
        k, v = (x.masked_fill(unseen[..., None], torch.nan) for x in (k, v))
        return [wide.to(self.device)[..., :DIM], k.to(self.device), v.to(self.device)]

    def expected(self) -> Sums:
        q, k, v = self.tensors
        both = []
        for head, mine in enumerate(q):
            of = head // self.group
            rows = (mine[:, None], k[of][:, None], v[of][:, None])
            both.append(attention(*rows, mask=self.dense[of]))
        outs, lses = zip(*both, strict=True)
        return torch.cat(outs, 1).transpose(0, 1), torch.cat(lses, 1).t()

    def planned(self, backend: str = "auto", **options: Any) -> VariableBlockSparseAttentionWrapper:
        wrapper = VariableBlockSparseAttentionWrapper(workspace(self.device), backend)
        on_device = [x.to(self.device) for x in self.drawn]
        heads = self.kv_heads * self.group
        options = {"q_data_type": BF16, **options}
        wrapper.plan(*on_device, heads, self.kv_heads, DIM, **options)
        return wrapper


def _on_device(sums: Sums, device: str) -> Sums:
    return sums[0].to(device), sums[1].to(device)


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"blocks": (3, 2), "group": 1, "queries": 200},
        {"blocks": (40, 70), "keys": 300, "share": 0.9},
        {"blocks": (1, 1), "keys": 65, "share": 1.0},
    ],
    ids=["many-columns", "tall-rows", "short-rows", "one-block"],
)
def test_any_mask_of_blocks_of_any_sizes(
    shape: dict[str, Any], random: Random, device: str
) -> None:
    mask = Mask(random.getrandbits(30), device, **shape)
    found = mask.planned().run(*mask.poisoned(), return_lse=True)
    assert_attends(found, _on_device(mask.expected(), device), mask)


def test_results_go_where_they_are_wanted(device: str) -> None:
    mask = Mask(3, device)
    q, k, v = mask.poisoned()
    out = torch.full((4, mask.queries, DIM), torch.nan, dtype=BF16, device=device)
    lse = torch.full((4, mask.queries), torch.nan, device=device)
    found = mask.planned().run(q, k, v, out=out, lse=lse, return_lse=True)
    assert found[0] is out
    assert found[1] is lse
    assert_attends(found, _on_device(mask.expected(), device))
    assert not bool(out[:2, : int(mask.drawn[1][0, 0])].any())


def test_a_repeat_has_the_same_bits(device: str) -> None:
    mask = Mask(4, device)
    tensors = mask.poisoned()
    first = mask.planned().run(*tensors)
    assert torch.equal(first, mask.planned().run(*tensors))


def test_causal_rows_are_the_last_of_what_they_select(device: str) -> None:
    """The square of one block a head is plain causal attention."""
    square = Mask(5, device, queries=80, keys=80, blocks=(1, 1), share=1.0)
    square.drawn[0].fill_(True)
    q, k, v = square.tensors
    found = square.planned(causal=True).run(*(x.to(device) for x in square.tensors))
    expected, _ = attention(*(x.transpose(0, 1) for x in (q, k, v)), causal=True)
    assert_attends(found, (expected.transpose(0, 1).to(device), expected))


@dataclass(frozen=True)
class Matrix:
    """A matrix of blocks in rows, and tokens under it."""

    seed: int
    device: str
    block: tuple[int, int]
    blocks: tuple[int, int]
    heads: tuple[int, int] = (4, 2)
    has_mask: bool = False

    @property
    def tokens(self) -> tuple[int, int]:
        return self.block[0] * self.blocks[0], self.block[1] * self.blocks[1]

    @cached_property
    def drawn(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """indptr, indices in any order, and a mask of scores."""
        random, (rows, cols) = Random(self.seed), self.blocks
        picked = [random.sample(range(cols), random.randint(0, cols)) for _ in range(rows)]
        ends = torch.tensor([0, *map(len, picked)]).cumsum(0).int()
        generator = torch.Generator().manual_seed(self.seed)
        shape = (int(ends[-1]), *self.block)
        mask = torch.rand(shape, generator=generator) < (0.6 if self.has_mask else 2)
        return ends, ints(*(i for row in picked for i in row)), mask

    @cached_property
    def dense(self) -> torch.Tensor:
        indptr, indices, mask = self.drawn
        rows = torch.arange(self.blocks[0]).repeat_interleave(indptr.diff())
        grid = torch.zeros(*self.blocks, *self.block, dtype=torch.bool)
        grid[rows, indices.long()] = mask
        return grid.transpose(1, 2).reshape(self.tokens)

    @cached_property
    def tensors(self) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(self.seed)
        shapes = zip((self.tokens[0], *2 * [self.tokens[1]]), (0, 1, 1), strict=True)
        return [
            torch.randn(n, self.heads[of], DIM, generator=generator).to(BF16) for n, of in shapes
        ]

    def poisoned(self) -> list[torch.Tensor]:
        """Keys of blocks that nobody selects are NaN."""
        q, k, v = self.tensors
        seen = torch.zeros(self.blocks[1], dtype=torch.bool)
        seen[self.drawn[1].long()] = True
        unseen = ~seen.repeat_interleave(self.block[1])[:, None, None]
        return [x.to(self.device) for x in (q, k.masked_fill(unseen, torch.nan), v)]

    def planned(self, **options: Any) -> BlockSparseAttentionWrapper:
        wrapper = BlockSparseAttentionWrapper(workspace(self.device))
        indptr, indices, mask = (x.to(self.device) for x in self.drawn)
        if self.has_mask and not options:
            options["mask"] = mask
        sizes = (*self.tokens, *self.block, *self.heads, DIM)
        wrapper.plan(indptr, indices, *sizes, q_data_type=BF16, o_data_type=BF16, **options)
        return wrapper

    def check(self, wrapper: BlockSparseAttentionWrapper) -> None:
        found = wrapper.run(*self.poisoned(), return_lse=True)
        expected = attention(*self.tensors, mask=self.dense)
        assert_attends(found, _on_device(expected, self.device), self)


@pytest.mark.parametrize(
    ("block", "blocks"),
    [
        ((1, 1), (40, 50)),
        ((16, 4), (5, 30)),
        ((4, 16), (9, 6)),
        ((70, 33), (2, 4)),
        ((3, 200), (2, 1)),
    ],
    ids=str,
)
def test_any_matrix_of_blocks(
    block: tuple[int, int], blocks: tuple[int, int], random: Random, device: str
) -> None:
    matrix = Matrix(random.getrandbits(30), device, block, blocks)
    matrix.check(matrix.planned())


@pytest.mark.parametrize("block", [(1, 1), (5, 3), (16, 8)], ids=str)
def test_scores_of_a_block_may_be_masked(
    block: tuple[int, int], random: Random, device: str
) -> None:
    matrix = Matrix(random.getrandbits(30), device, block, (6, 9), has_mask=True)
    matrix.check(matrix.planned())


def test_a_mask_may_be_packed(device: str) -> None:
    """Bits are the scores of a row of blocks in their order; each row begins with a byte."""
    matrix = Matrix(6, device, (3, 5), (7, 8), has_mask=True)
    indptr, _, mask = matrix.drawn
    parts = mask.split(indptr.diff().tolist())
    flat = torch.cat([part.transpose(0, 1).flatten() for part in parts]).to(device)
    packed, _ = segment_packbits(flat, (indptr * 15).to(device), "little")
    matrix.check(matrix.planned(packed_mask=packed))


def test_plans_may_come_from_the_host(device: str) -> None:
    matrix = Matrix(7, device, (8, 8), (4, 4))
    wrapper = BlockSparseAttentionWrapper(workspace(device))
    sizes = (*matrix.tokens, *matrix.block, *matrix.heads, DIM)
    wrapper.plan(*matrix.drawn[:2], *sizes, q_data_type=BF16, o_data_type=BF16)
    matrix.check(wrapper)


@pytest.mark.needs_gpu
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
def test_nothing_waits_for_the_gpu(device: str) -> None:
    mask, matrix = Mask(10, device), Matrix(10, device, (16, 8), (4, 9), has_mask=True)
    tensors, others = mask.poisoned(), matrix.poisoned()
    on_device = [x.to(device) for x in mask.drawn]
    of_matrix = [x.to(device) for x in matrix.drawn]
    wrapper = VariableBlockSparseAttentionWrapper(workspace(device))
    rows = BlockSparseAttentionWrapper(workspace(device))
    for mode in ("default", "error"):
        torch.cuda.set_sync_debug_mode(mode)
        try:
            wrapper.plan(*on_device, 4, 2, DIM, q_data_type=BF16)
            wrapper.run(*tensors)
            sizes = (*matrix.tokens, *matrix.block, *matrix.heads, DIM)
            rows.plan(*of_matrix[:2], *sizes, of_matrix[2], q_data_type=BF16)
            rows.run(*others)
        finally:
            torch.cuda.set_sync_debug_mode("default")


@pytest.mark.needs_gpu
def test_graphs_follow_the_mask(device: str) -> None:
    """plan() and run() are captured together, and replayed on another mask."""
    first, second = Mask(11, device), Mask(12, device)
    tensors = [x.to(device) for x in first.tensors]
    drawn = [x.to(device) for x in first.drawn]
    wrapper = VariableBlockSparseAttentionWrapper(workspace(device))
    out = torch.empty_like(tensors[0])

    def step() -> None:
        wrapper.plan(*drawn, 4, 2, DIM, q_data_type=BF16)
        wrapper.run(*tensors, out=out)

    step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for x, other in zip((*drawn, *tensors), (*second.drawn, *second.tensors), strict=True):
        x.copy_(other)
    graph.replay()
    assert_attends(out, _on_device(second.expected(), device))
