"""What the traces of cascades cannot say: layouts, lists, levels without keys, graphs, refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from fictl.kernels.attention.cascade import trace
from fictl.kernels.attention.cascade.op import (
    BatchDecodeWithSharedPrefixPagedKVCacheWrapper,
    BatchPrefillWithSharedPrefixPagedKVCacheWrapper,
    MultiLevelCascadeAttentionWrapper,
)
from fictl.testing import assert_close, make_inputs

HEADS, KV_HEADS, DIM, PAGE = 4, 2, 64, 4
SIZES = (HEADS, KV_HEADS, DIM, PAGE)
DTYPE = torch.bfloat16
TYPES = {"q_data_type": DTYPE, "kv_data_type": DTYPE}
PAGES = 12


def ints(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


# Of two levels: five queries of three requests, of which the second has no keys of its own.
QUERIES = [ints(0, 5), ints(0, 2, 3, 5)]
BEGINS = [ints(0, 3), ints(0, 2, 2, 4)]
INDICES = [ints(7, 2, 5), ints(0, 11, 4, 3)]
LAST = [ints(3), ints(1, 0, 4)]
TABLES = (QUERIES, BEGINS, INDICES, LAST)


@pytest.fixture
def workspace(device: str) -> torch.Tensor:
    return torch.empty(8 << 20, dtype=torch.uint8, device=device)


@pytest.fixture
def q(device: str) -> torch.Tensor:
    return torch.randn(5, HEADS, DIM, device=device).to(DTYPE)


@pytest.fixture
def cache(device: str) -> torch.Tensor:
    return torch.randn(PAGES, 2, PAGE, KV_HEADS, DIM, device=device).to(DTYPE)


def _keys(
    cache: torch.Tensor, level: Sequence[torch.Tensor], of: int
) -> tuple[torch.Tensor, torch.Tensor]:
    begins, indices, last = level
    keys, values = trace._gathered(cache, indices[begins[of] : begins[of + 1]], int(last[of]))
    return keys, values


def _expected(
    q: torch.Tensor, cache: torch.Tensor, causal: bool, tables: Sequence[Sequence[Any]] = TABLES
) -> torch.Tensor:
    """Of each request, over the keys of all levels; `tables` as of the two levels above."""
    tables = [[each.cpu() for each in arrays] for arrays in tables]
    starts = tables[0][-1].tolist()
    out = torch.zeros_like(q, dtype=torch.float64)
    for i in range(len(starts) - 1):
        levels = [[arrays[level] for arrays in tables[1:]] for level in range(len(tables[0]))]
        shared = [_keys(cache, level, 0) for level in levels[:-1]]
        mine = slice(starts[i], starts[i + 1])
        out[mine] = trace._attention(q[mine], [*shared, _keys(cache, levels[-1], i)], causal)
    return out


def _check(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert_close(found, expected, tolerances=trace.TOLERANCES)


def _planned(workspace: torch.Tensor, layout: str = "NHD", **options: Any) -> Any:
    made = MultiLevelCascadeAttentionWrapper(2, workspace, layout)
    made.plan(*TABLES, *SIZES, **TYPES, **options)
    return made


@pytest.mark.parametrize("causal", [False, True])
def test_two_levels_are_attention_over_both(
    causal: bool, q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor
) -> None:
    made = _planned(workspace, causal=causal)
    out = torch.empty_like(q)
    assert made.run(q, cache, out=out) is out
    _check(out, _expected(q, cache, causal))
    _check(made.forward(q, (cache[:, 0], cache[:, 1])), out.double())


def test_heads_before_slots(q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor) -> None:
    made = _planned(workspace, "HND")
    _check(made.run(q, cache.transpose(2, 3).contiguous()), _expected(q, cache, False))


def test_one_level_is_attention_over_it(
    q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor
) -> None:
    made = MultiLevelCascadeAttentionWrapper(1, workspace)
    tables = [arrays[1:] for arrays in TABLES]
    made.begin_forward(*tables, *SIZES, causal=True, **TYPES)
    _check(made.run(q, cache), _expected(q, cache, True, tables))


def test_where_no_level_has_keys_the_result_is_0(
    q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor
) -> None:
    made = MultiLevelCascadeAttentionWrapper(2, workspace)
    nothing = [[ints(0, 0), ints(0, 0, 0, 0)], [ints(), ints()], [ints(0), ints(0, 0, 0)]]
    made.plan(QUERIES, *nothing, *SIZES, **TYPES)
    assert bool((made.run(q, cache) == 0).all())


def test_a_level_for_each_entry_is_wanted(workspace: torch.Tensor) -> None:
    made = MultiLevelCascadeAttentionWrapper(2, workspace)
    with pytest.raises(ValueError, match=r"'paged_kv_indptr_arr' has 1 entries, there are 2"):
        made.plan(QUERIES, BEGINS[:1], INDICES, LAST, *SIZES, **TYPES)
    with pytest.raises(ValueError, match=r"'num_levels' is 0"):
        MultiLevelCascadeAttentionWrapper(0, workspace)
    with pytest.raises(ValueError, match=r"use_cuda_graph needs qo_indptr_buf_arr, paged_kv_ind"):
        MultiLevelCascadeAttentionWrapper(2, workspace, use_cuda_graph=True)
    with pytest.raises(ValueError, match=r"'int_workspace_buffers' has 1 entries"):
        made.reset_workspace_buffer(workspace, [workspace])


def test_other_memory_serves_as_well(
    q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor
) -> None:
    made = MultiLevelCascadeAttentionWrapper(2, workspace)
    assert not made.is_cuda_graph_enabled
    made.reset_workspace_buffer(workspace.clone(), [torch.empty_like(workspace) for _ in range(2)])
    made.plan(*TABLES, *SIZES, **TYPES)
    _check(made.run(q, cache), _expected(q, cache, False))


def _shared(cache: torch.Tensor, layout: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Keys and values of the first level, behind one another, and the cache."""
    k, v = (x.contiguous() for x in _keys(cache, [arrays[0] for arrays in TABLES[1:]], 0))
    if layout == "NHD":
        return k, v, cache
    return k.transpose(0, 1), v.transpose(0, 1), cache.transpose(2, 3).contiguous()


@pytest.mark.parametrize("layout", ["NHD", "HND"])
def test_decoding_with_a_shared_prefix(
    layout: str, q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor
) -> None:
    made = BatchDecodeWithSharedPrefixPagedKVCacheWrapper(workspace, layout)
    own = [arrays[1] for arrays in TABLES[1:]]
    made.begin_forward(*own, *SIZES, data_type=DTYPE)
    queries = [ints(0, 3), ints(0, 1, 2, 3)]
    expected = _expected(q[:3], cache, False, (queries, *TABLES[1:]))
    _check(made.forward(q[:3], *_shared(cache, layout)), expected)


@pytest.mark.parametrize("layout", ["NHD", "HND"])
def test_prefill_with_a_shared_prefix(
    layout: str, q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor
) -> None:
    made = BatchPrefillWithSharedPrefixPagedKVCacheWrapper(workspace, layout)
    made.begin_forward(*(arrays[1] for arrays in TABLES), *SIZES, **TYPES)
    for causal in (False, True):
        found = made.forward(q, *_shared(cache, layout), causal=causal)
        _check(found, _expected(q, cache, causal))


def test_a_prefix_without_keys_changes_nothing(
    q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor
) -> None:
    made = BatchPrefillWithSharedPrefixPagedKVCacheWrapper(workspace)
    tables = [arrays[1:] for arrays in TABLES]
    made.plan(*(arrays[0] for arrays in tables), *SIZES, **TYPES)
    nothing = q.new_empty(0, KV_HEADS, DIM)
    _check(made.run(q, nothing, nothing, cache), _expected(q, cache, False, tables))


@pytest.mark.needs_gpu
def test_a_captured_run_follows_the_next_plan(
    q: torch.Tensor, cache: torch.Tensor, workspace: torch.Tensor
) -> None:
    room = [[torch.zeros(16, dtype=torch.int32, device=q.device) for _ in range(2)]]
    begins = [[torch.empty_like(each, device=q.device) for each in arrays] for arrays in TABLES]
    made = MultiLevelCascadeAttentionWrapper(
        2, workspace, "NHD", True, begins[0], begins[1], room[0], begins[3]
    )
    assert made.is_cuda_graph_enabled
    made.plan(*TABLES, *SIZES, causal=True, **TYPES)
    out = torch.empty_like(q)
    made.run(q, cache, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made.run(q, cache, out=out)
    others = (
        [ints(0, 5), ints(0, 1, 4, 5)],
        [ints(0, 5), ints(0, 1, 3, 6)],
        [ints(1, 0, 6, 9, 10), ints(11, 2, 3, 4, 8, 7)],
        [ints(4), ints(3, 4, 1)],
    )
    for tables in (others, TABLES):
        made.plan(*tables, *SIZES, causal=True, **TYPES)
        graph.replay()
        _check(out, _expected(q, cache, True, tables))


@pytest.mark.needs_gpu
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dim", [64, 128])
def test_batches_of_any_shape(dim: int, seed: int, workspace: torch.Tensor) -> None:
    random = torch.Generator().manual_seed(torch.initial_seed() + seed)
    levels, requests, tokens, pages = (
        int(torch.randint(1, most, (), generator=random)) for most in (4, 40, 200, 300)
    )
    sizes = {
        "levels": levels,
        "tokens": tokens,
        "requests": requests,
        "pages": pages + 5,
        "used_pages": pages,
        "page_size": 2**seed,
        "num_qo_heads": 10,
        "num_kv_heads": 2,
        "head_dim": dim,
    }
    template = trace.MultiLevelCascadeAttentionWrapper
    inputs = make_inputs(template, sizes, "bfloat16", "cuda", seed=int(torch.initial_seed()) + seed)
    assert template.bind is not None
    plan, run = template.bind(inputs)
    plan()
    doubles = {n: x.double() if x.is_floating_point() else x for n, x in _tensors(inputs).items()}
    _check(run(), template.reference(**{**inputs, **doubles}))


def _tensors(inputs: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: each for name, each in inputs.items() if isinstance(each, torch.Tensor)}
