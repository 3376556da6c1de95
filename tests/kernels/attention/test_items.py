"""Scoring several items behind a prefix at once: no item sees another."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

from fictl.kernels.attention.prefill.op import (
    BatchPrefillWithPagedKVCacheWrapper,
    BatchPrefillWithRaggedKVCacheWrapper,
)

from .reference import Batch, Shape, assert_attends, workspace

SHAPE = Shape(64)


class Scored:
    """Requests of a prefix and of items between which stand single tokens."""

    def __init__(self, random: Random, device: str) -> None:
        self.prefixes = [random.randint(0, 40) for _ in range(3)]
        items = [[random.randint(1, 30) for _ in range(random.randint(1, 4))] for _ in range(3)]
        self.positions = [
            [0, *(at for item in each for at in (*range(1, item + 1), 0))] for each in items
        ]
        kv_lens = [n + len(p) for n, p in zip(self.prefixes, self.positions, strict=True)]
        q_lens = [random.randint(1, n) for n in kv_lens]
        self.batch = Batch(q_lens, kv_lens, SHAPE, device, random.getrandbits(30))

    def arguments(self) -> dict[str, Any]:
        length = max(map(len, self.positions)) + 2
        rows = [[*row, *[0] * (length - len(row))] for row in self.positions]
        device = self.batch.device
        return {
            "prefix_len_ptr": torch.tensor(self.prefixes, dtype=torch.int32, device=device),
            "token_pos_in_items_ptr": torch.tensor(
                rows, dtype=torch.int32, device=device
            ).flatten(),
            "token_pos_in_items_len": length,
            "max_item_len_ptr": torch.tensor([max(row) for row in self.positions], device=device),
        }

    def masks(self) -> list[torch.Tensor]:
        """By the rule, token by token."""
        masks = []
        sizes = zip(self.batch.q_lens, self.batch.kv_lens, strict=True)
        for (queries, keys), prefix, row in zip(sizes, self.prefixes, self.positions, strict=True):
            mask = torch.zeros(queries, keys, dtype=torch.bool)
            for i in range(queries):
                own = keys - queries + i
                back = row[own - prefix] if own >= prefix else own + 1
                mask[i, : min(prefix, own + 1)] = True
                mask[i, own + 1 - back : own + 1] = True
            masks.append(mask.to(self.batch.device))
        return masks


@pytest.fixture
def scored(request: pytest.FixtureRequest, device: str) -> Scored:
    """Another one in every run; --fictl-seed repeats it."""
    return Scored(Random(f"{request.config.option.fictl_seed} {request.node.name}"), device)


def test_items_in_pages(scored: Scored) -> None:
    batch = scored.batch
    wrapper = BatchPrefillWithPagedKVCacheWrapper(workspace(batch.device))
    sizes = (SHAPE.heads, SHAPE.kv_heads, SHAPE.dim, SHAPE.page_size)
    table = batch.page_table()
    wrapper.plan(batch.qo_indptr, *table, *sizes, q_data_type=SHAPE.dtype, **scored.arguments())
    found = wrapper.run(batch.q, batch.cache(), return_lse=True)
    assert_attends(found, batch.expected(scored.masks()), scored.prefixes)


def test_items_behind_one_another(scored: Scored) -> None:
    batch = scored.batch
    wrapper = BatchPrefillWithRaggedKVCacheWrapper(workspace(batch.device))
    sizes = (SHAPE.heads, SHAPE.kv_heads, SHAPE.dim)
    indptr = (batch.qo_indptr, batch.kv_indptr)
    wrapper.plan(*indptr, *sizes, q_data_type=SHAPE.dtype, **scored.arguments())
    found = wrapper.run(batch.q, *batch.ragged(), return_lse=True)
    assert_attends(found, batch.expected(scored.masks()), scored.prefixes)
    wrapper.plan(*indptr, *sizes, q_data_type=SHAPE.dtype, causal=True)
    found = wrapper.run(batch.q, *batch.ragged(), return_lse=True)
    assert_attends(found, batch.expected(causal=True))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"prefix_len_ptr": None}, r"'prefix_len_ptr' is None; scoring several items takes"),
        ({"token_pos_in_items_ptr": None}, r"'token_pos_in_items_ptr' is None"),
        ({"prefix_len_ptr": torch.ones(2).int()}, r"'prefix_len_ptr' has 2 .* here it is 3"),
        ({"prefix_len_ptr": torch.ones(3)}, r"'prefix_len_ptr' has 3 elements of torch.float32"),
        ({"token_pos_in_items_len": 4}, r"'token_pos_in_items_ptr' has \d+ .* here it is 12"),
        ({"custom_mask": torch.ones(3)}, r"'custom_mask' is given beside 'prefix_len_ptr'"),
    ],
)
def test_items_are_refused_in_words(changed: dict[str, Any], message: str, device: str) -> None:
    scored = Scored(Random(1), device)
    batch = scored.batch
    wrapper = BatchPrefillWithRaggedKVCacheWrapper(workspace(device))
    arguments = {**scored.arguments(), "q_data_type": SHAPE.dtype, **changed}
    sizes = (SHAPE.heads, SHAPE.kv_heads, SHAPE.dim)
    with pytest.raises(ValueError, match=message):
        wrapper.plan(batch.qo_indptr, batch.kv_indptr, *sizes, **arguments)


@pytest.mark.needs_gpu
def test_graphs_follow_the_items(device: str) -> None:
    scored = Scored(Random(2), device)
    batch, count = scored.batch, len(scored.prefixes)
    ints = [torch.zeros(n, dtype=torch.int32, device=device) for n in (count + 1, count + 1)]
    wrapper = BatchPrefillWithRaggedKVCacheWrapper(workspace(device), "NHD", True, *ints)
    sizes = (SHAPE.heads, SHAPE.kv_heads, SHAPE.dim)
    indptr = (batch.qo_indptr, batch.kv_indptr)
    none = {**scored.arguments(), "token_pos_in_items_ptr": None}
    none["token_pos_in_items_ptr"] = scored.arguments()["token_pos_in_items_ptr"] * 0
    wrapper.plan(*indptr, *sizes, q_data_type=SHAPE.dtype, **none)
    keys, out = batch.ragged(), torch.empty_like(batch.q.contiguous())
    wrapper.run(batch.q, *keys, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        wrapper.run(batch.q, *keys, out=out)
    wrapper.plan(*indptr, *sizes, q_data_type=SHAPE.dtype, **scored.arguments())
    graph.replay()
    assert_attends(out, batch.expected(scored.masks()))
