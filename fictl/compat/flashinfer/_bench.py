"""Timing functions as FlashInfer's users call them: a list of times in milliseconds."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from fictl.errors import InvalidValue
from fictl.testing.gpu_time import sample_times
from fictl.timing.stop import Stop

__all__ = [
    "bench_gpu_time",
    "bench_gpu_time_with_cuda_event",
    "bench_gpu_time_with_cudagraph",
    "bench_gpu_time_with_cupti",
    "set_seed",
]

Words = Mapping[str, Any] | None


def set_seed(random_seed: int) -> None:
    """Seed torch, Python and, if it is imported, NumPy."""
    torch.manual_seed(random_seed)
    random.seed(random_seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(random_seed)


def bench_gpu_time(
    fn: Callable[..., Any],
    dry_run_iters: int | None = None,
    repeat_iters: int | None = None,
    dry_run_time_ms: int = 25,
    repeat_time_ms: int = 100,
    l2_flush: bool | None = None,
    l2_flush_size_mb: int | None = None,
    l2_flush_device: str | None = None,
    sleep_after_run: bool = False,
    enable_cupti: bool = False,
    use_cuda_graph: bool = False,
    num_iters_within_graph: int = 10,
    input_args: Sequence[Any] = (),
    input_kwargs: Words = None,
    cold_l2_cache: bool = True,
    aggregate_op: Callable[..., Any] = max,
) -> list[float]:
    """Times of one call in milliseconds; `fictl.testing.bench_gpu_time` returns their median.

    fictl warms up until times are steady and chooses the number of calls itself: `dry_run_time_ms`,
    `num_iters_within_graph`, `sleep_after_run` and the sizes of flushes are ignored. With several
    ranks, sample i is the `aggregate_op` of theirs.
    """
    timer = "cupti" if enable_cupti else "graph" if use_cuda_graph else "events"
    cold = cold_l2_cache if l2_flush is None else l2_flush
    for _ in range(dry_run_iters or 0):
        fn(*input_args, **(input_kwargs or {}))
    stop = _stop(repeat_iters, repeat_time_ms)
    samples = sample_times(
        fn, input_args, input_kwargs or {}, timer=_with_fallbacks(timer), cold=cold, stop=stop
    )
    return _over_ranks([1e3 * seconds for seconds in samples.seconds], aggregate_op)


def bench_gpu_time_with_cuda_event(
    fn: Callable[..., Any],
    dry_run_iters: int | None = None,
    repeat_iters: int | None = None,
    dry_run_time_ms: int = 25,
    repeat_time_ms: int = 100,
    l2_flush: bool | None = None,
    l2_flush_size_mb: int | None = None,
    l2_flush_device: str | None = None,
    sleep_after_run: bool = False,
    input_args: Sequence[Any] = (),
    input_kwargs: Words = None,
    cold_l2_cache: bool = True,
    aggregate_op: Callable[..., Any] = max,
) -> list[float]:
    """bench_gpu_time, by CUDA events."""
    return bench_gpu_time(
        fn,
        dry_run_iters,
        repeat_iters,
        dry_run_time_ms,
        repeat_time_ms,
        l2_flush,
        input_args=input_args,
        input_kwargs=input_kwargs,
        cold_l2_cache=cold_l2_cache,
        aggregate_op=aggregate_op,
    )


def bench_gpu_time_with_cupti(
    fn: Callable[..., Any],
    dry_run_iters: int | None = None,
    repeat_iters: int | None = None,
    dry_run_time_ms: int = 25,
    repeat_time_ms: int = 100,
    l2_flush: bool | None = None,
    l2_flush_size_mb: int | None = None,
    l2_flush_device: str | None = None,
    sleep_after_run: bool = False,
    use_cuda_graph: bool = False,
    input_args: Sequence[Any] = (),
    input_kwargs: Words = None,
    cold_l2_cache: bool = True,
    aggregate_op: Callable[..., Any] = max,
) -> list[float]:
    """bench_gpu_time, by CUPTI."""
    return bench_gpu_time(
        fn,
        dry_run_iters,
        repeat_iters,
        dry_run_time_ms,
        repeat_time_ms,
        l2_flush,
        enable_cupti=True,
        use_cuda_graph=use_cuda_graph,
        input_args=input_args,
        input_kwargs=input_kwargs,
        cold_l2_cache=cold_l2_cache,
        aggregate_op=aggregate_op,
    )


def bench_gpu_time_with_cudagraph(
    fn: Callable[..., Any],
    dry_run_iters: int | None = None,
    repeat_iters: int | None = None,
    dry_run_time_ms: int = 25,
    repeat_time_ms: int = 100,
    num_iters_within_graph: int = 10,
    l2_flush: bool | None = None,
    l2_flush_size_mb: int | None = None,
    l2_flush_device: str | None = None,
    sleep_after_run: bool = False,
    input_args: Sequence[Any] = (),
    input_kwargs: Words = None,
    cold_l2_cache: bool = True,
    aggregate_op: Callable[..., Any] = max,
) -> list[float]:
    """bench_gpu_time, by CUDA graphs."""
    return bench_gpu_time(
        fn,
        dry_run_iters,
        repeat_iters,
        dry_run_time_ms,
        repeat_time_ms,
        l2_flush,
        use_cuda_graph=True,
        input_args=input_args,
        input_kwargs=input_kwargs,
        cold_l2_cache=cold_l2_cache,
        aggregate_op=aggregate_op,
    )


def _with_fallbacks(timer: str) -> str:
    """The requested timer, followed by those to use if it does not work."""
    order = ("cupti", "graph", "events")
    return ",".join(order[order.index(timer) :])


def _stop(rounds: int | None, milliseconds: float) -> Stop:
    if rounds is not None and rounds < 1:
        raise InvalidValue(f"repeat_iters is {rounds}", "repeat_iters is at least 1")
    if rounds is not None:
        return Stop(min_rounds=rounds, max_rounds=rounds, max_seconds=float("inf"))
    return Stop(max_seconds=milliseconds / 1e3)


def _over_ranks(times: list[float], aggregate: Callable[..., Any]) -> list[float]:
    dist = torch.distributed
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() == 1:
        return times
    gathered: list[list[float]] = [[] for _ in range(dist.get_world_size())]
    dist.all_gather_object(gathered, times)
    return [float(aggregate(same)) for same in zip(*gathered, strict=False)]
