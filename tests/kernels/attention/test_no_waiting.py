"""Plans of lengths on the host wait for no GPU and read nothing there; graphs' buffers are left alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

from fictl.kernels.attention._fast_decode_plan import fast_decode_plan
from fictl.kernels.attention._sink_wrapper import BatchAttentionWithAttentionSinkWrapper
from fictl.kernels.attention.decode.op import BatchDecodeWithPagedKVCacheWrapper
from fictl.kernels.attention.prefill.op import (
    BatchPrefillWithPagedKVCacheWrapper,
    BatchPrefillWithRaggedKVCacheWrapper,
)

from .recorded import DIM, HEADS, KV_HEADS, PAGE, Kernel, cache, graphs, ints, prefill_graphs, q
from .reference import Batch, Shape, assert_attends, workspace
from .unread import Waited, unread

LENGTHS = ([700, 1, 3000], [5, 900, 64])
SHAPE = Shape(128, 8, 2, page_size=16)
GARBAGE = 77
_WAITS = re.compile(r"cu(da)?(Stream|Event|Ctx|Device)Synchronize|cu(da)?Memcpy(?!.*Async).*")


def _host(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


@pytest.mark.parametrize(
    "reads", [torch.Tensor.item, torch.Tensor.tolist, bool, int, torch.Tensor.cpu]
)
def test_a_read_of_such_a_tensor_is_seen(reads: Callable[[torch.Tensor], Any]) -> None:
    away = ints(1)
    with unread(away), pytest.raises(Waited):
        reads(away)
    with unread(away), pytest.raises(Waited):
        (away + 1).sum().item()
    with unread(away):
        assert reads(ints(1)) in (0, [0])


def _plans() -> list[tuple[str, Callable[[torch.Tensor], Any]]]:
    """Plans as engines make them: lengths on the host, pages on the device."""
    sizes = (HEADS, KV_HEADS, DIM, PAGE)
    lengths, queries = (_host(0, 1, 3), _host(3, 1)), _host(0, 2, 5)
    decoding, replayed = graphs(), graphs()
    replayed.plan(lengths[0], _host(4, 2, 9), lengths[1], *sizes)
    prefill = prefill_graphs()
    table = lambda pages: (lengths[0], pages, lengths[1], *sizes)  # noqa: E731
    return [
        ("decode", lambda pages: decoding.plan(*table(pages))),
        ("fast_decode_plan", lambda pages: fast_decode_plan(replayed, *table(pages))),
        ("prefill", lambda pages: prefill.plan(queries, *table(pages), causal=True)),
    ]


@pytest.mark.parametrize("at", range(3), ids=["decode", "fast_decode_plan", "prefill"])
def test_emulated_plans_and_runs_read_no_tensor_of_the_device(
    at: int, tensor_cores: Kernel, cuda_cores: Kernel
) -> None:
    pages = _host(4, 2, 9)
    _, plan = _plans()[at]
    with unread(pages):
        plan(pages)


def test_emulated_runs_read_no_scale_and_no_sink(tensor_cores: Kernel) -> None:
    wrapper, pages = prefill_graphs(), _host(4, 2, 9)
    wrapper.plan(_host(0, 2, 5), _host(0, 1, 3), pages, _host(3, 1), HEADS, KV_HEADS, DIM, PAGE)
    given = (q(), cache(), torch.zeros(HEADS))
    with unread(pages, *given):
        wrapper.run(given[0], given[1], sinks=given[2], k_scale=0.5, v_scale=2.0)


def _recorded(call: Callable[[], object]) -> tuple[list[str], list[str]]:
    """Return what the host asked of CUDA during the call, and the copies and kernels of it."""
    from fictl.profile import profile_kernel

    call()  # Whatever is built or grows does so before.
    torch.cuda.synchronize()
    with profile_kernel("call") as profile:
        torch.cuda.mem_get_info()
        call()
        torch.cuda.mem_get_info()
    marks = [i for i, one in enumerate(profile.api) if one.name == "cudaMemGetInfo"]
    assert len(marks) == 2
    between = profile.api[marks[0] + 1 : marks[1]]
    ours = {one.correlation for one in between}
    return [one.name for one in between], [w.name for w in profile.work if w.correlation in ours]


def _assert_nothing_waits(call: Callable[[], object]) -> list[str]:
    asked, work = _recorded(call)
    assert not [name for name in asked if _WAITS.fullmatch(name)], asked
    assert not [name for name in work if name.startswith("device to host")], work
    return work


def _batch(kv_lens: list[int], q_lens: list[int] | None = None, seed: int = 0) -> Batch:
    return Batch(q_lens or [1] * len(kv_lens), kv_lens, SHAPE, "cuda", seed)


def _table(batch: Batch) -> tuple[Any, ...]:
    indptr, pages, last = batch.page_table()
    return indptr, pages.cuda(), last, SHAPE.heads, SHAPE.kv_heads, SHAPE.dim, SHAPE.page_size


def _decode(batch: Batch) -> Callable[[], object]:
    wrapper = BatchDecodeWithPagedKVCacheWrapper(workspace("cuda"), use_tensor_cores=True)
    table, kv, queries = _table(batch), batch.cache(), batch.q
    out = torch.empty_like(queries)

    def call() -> None:
        wrapper.plan(*table, q_data_type=SHAPE.dtype)
        wrapper.run(queries, kv, out=out)

    return call


def _prefill(batch: Batch, kind: type[BatchPrefillWithPagedKVCacheWrapper]) -> Callable[[], object]:
    wrapper = kind(workspace("cuda"))
    table, kv, queries = _table(batch), batch.cache(), batch.q
    out, sinks = torch.empty_like(queries), torch.zeros(SHAPE.heads, device="cuda")
    more = (sinks, 0.1) if kind is BatchAttentionWithAttentionSinkWrapper else ()
    run: Any = wrapper.run

    def call() -> None:
        wrapper.plan(batch.qo_indptr, *table, causal=True, q_data_type=SHAPE.dtype)
        run(queries, kv, *more, out=out)

    return call


def _ragged(batch: Batch) -> Callable[[], object]:
    wrapper = BatchPrefillWithRaggedKVCacheWrapper(workspace("cuda"))
    queries, (k, v) = batch.q, batch.ragged()
    out = torch.empty_like(queries)
    sizes = (SHAPE.heads, SHAPE.kv_heads, SHAPE.dim)

    def call() -> None:
        wrapper.plan(batch.qo_indptr, batch.kv_indptr, *sizes, causal=True, q_data_type=SHAPE.dtype)
        wrapper.run(queries, k, v, out=out)

    return call


@pytest.mark.needs_gpu
@pytest.mark.parametrize(
    "made",
    [
        lambda: _decode(_batch(LENGTHS[0])),
        lambda: _prefill(_batch(LENGTHS[0], [9, 1, 300]), BatchPrefillWithPagedKVCacheWrapper),
        lambda: _prefill(_batch(LENGTHS[0], [9, 1, 300]), BatchAttentionWithAttentionSinkWrapper),
        lambda: _ragged(_batch(LENGTHS[0], [9, 1, 300])),
    ],
    ids=["decode", "prefill", "sinks", "ragged"],
)
def test_plan_and_run_copy_nothing_back_and_wait_for_nothing(
    made: Callable[[], Callable[[], object]],
) -> None:
    _assert_nothing_waits(made())


@pytest.fixture
def captured() -> Any:
    """A wrapper for graphs, its buffers, a captured run and its tensors, planned by vLLM's way."""
    buffers = [torch.zeros(n, dtype=torch.int32, device="cuda") for n in (4, 400, 3)]
    wrapper: Any = BatchDecodeWithPagedKVCacheWrapper(
        workspace("cuda"), "NHD", True, True, *buffers
    )
    batch = _batch(LENGTHS[0])
    queries, kv = batch.q.clone(), torch.zeros(400, 2, 16, 2, 128, dtype=SHAPE.dtype, device="cuda")
    out = torch.empty_like(queries)
    wrapper.plan(*_table(batch), q_data_type=SHAPE.dtype)
    run = partial(wrapper.run, queries, kv, out=out)
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return wrapper, buffers, graph, queries, kv, out


@pytest.mark.needs_gpu
def test_a_fast_plan_for_a_graph_is_one_copy_to_the_device_and_writes_to_no_buffer(
    captured: Any,
) -> None:
    wrapper, buffers, _, queries, kv, _ = captured
    table = _table(_batch(LENGTHS[1]))
    for buffer in buffers:
        buffer.fill_(GARBAGE)
    kept = [tensor.clone() for tensor in (queries, kv)]
    plan = partial(fast_decode_plan, wrapper, *table, q_data_type=SHAPE.dtype)
    work = _assert_nothing_waits(plan)
    assert len(work) == 1, work
    assert work[0].startswith("host to device")
    assert all(bool((buffer == GARBAGE).all()) for buffer in buffers)
    same = zip((queries, kv), kept, strict=True)
    assert all(torch.equal(tensor, before) for tensor, before in same)


@pytest.mark.needs_gpu
def test_a_fast_plan_and_a_replay_wait_for_nothing(captured: Any) -> None:
    wrapper, buffers, graph, *_ = captured
    table = _table(_batch(LENGTHS[1]))
    for buffer, value in zip(buffers, table, strict=False):
        buffer[: len(value)].copy_(value)

    def call() -> None:
        fast_decode_plan(wrapper, *table, q_data_type=SHAPE.dtype)
        graph.replay()

    _assert_nothing_waits(call)


@pytest.mark.needs_gpu
def test_plans_in_a_row_do_not_disturb_each_other_while_the_gpu_is_busy() -> None:
    """The lists of both are copied after the host is done with them, as the GPU sleeps first."""
    wrapper: Any = BatchDecodeWithPagedKVCacheWrapper(workspace("cuda"), use_tensor_cores=True)
    batches = [_batch(lengths, seed=seed) for seed, lengths in enumerate(LENGTHS * 3)]
    tables = [_table(batch) for batch in batches]
    tensors = [(batch.q, batch.cache()) for batch in batches]
    outs = [torch.empty_like(batch.q) for batch in batches]

    def all_of_them() -> None:
        for table, given, out in zip(tables, tensors, outs, strict=True):
            wrapper.plan(*table, q_data_type=SHAPE.dtype)
            wrapper.run(*given, out=out)

    all_of_them()
    torch.cuda.synchronize()
    for out in outs:
        out.fill_(torch.nan)
    done = torch.cuda.Event()
    torch.cuda._sleep(2_000_000_000)  # cycles: a second
    done.record()
    all_of_them()
    assert not done.query(), "the host waited for the GPU"
    torch.cuda.synchronize()
    for batch, out in zip(batches, outs, strict=True):
        assert_attends((out, None), batch.expected(causal=True), batch.kv_lens)
