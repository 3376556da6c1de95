"""The kernels of decoding themselves, by work lists that a planner would not make."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from fictl.kernels.attention._config import Config
from fictl.kernels.attention.decode.jit import module as cuda_cores
from fictl.kernels.attention.prefill.jit import module as tensor_cores
from fictl.op import KernelModule

from .reference import Batch, Shape, Sums, assert_attends
from .work_lists import WorkList

HALF, BF16, E4M3, E5M2 = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2
BY_TENSOR_CORES, BY_CUDA_CORES = KernelModule(tensor_cores), KernelModule(cuda_cores)
FREQUENCIES = (1.0, 1e4)  # scale and theta
PAGED = Config(BF16, BF16, BF16, 64, True, 16)
SMALL_GROUP = Config(BF16, BF16, BF16, 64, True, 2, tensor_cores=False)
on_gpu = pytest.mark.needs_gpu  # each more is a compile of some seconds


def _shape(config: Config, group: int, **others: Any) -> Shape:
    return Shape(
        config.head_dim,
        2 * group,
        2,
        config.q,
        config.kv if config.kv != config.q else None,
        **others,
    )


def _attend(
    config: Config,
    work: WorkList,
    *,
    sinks: torch.Tensor | None = None,
    v_scale: float = 1.0,
    soft_cap: float = 0.0,
    copied: torch.Tensor | None = None,
) -> Sums:
    """`copied` is the list on the host, and that on the device holds nothing yet."""
    batch, shape = work.batch, work.batch.shape
    kernel = BY_TENSOR_CORES if config.tensor_cores else BY_CUDA_CORES
    if config.paged:
        hnd = shape.layout == "HND"
        k, v = batch.cache().unbind(1)
        pages, page_size = batch.page_table()[1].to(batch.device), shape.page_size
    else:
        hnd = shape.layout == "HND"
        (k, v), pages, page_size = batch.ragged(), None, 0
    out = torch.full(batch.q.shape, torch.nan, dtype=config.o, device=batch.device)
    lse = torch.full(batch.q.shape[:2], torch.nan, device=batch.device)
    rows = max(work.partial_rows, 1) * shape.kv_heads
    room = torch.full((rows * shape.dim,), torch.nan, device=batch.device)
    sums = torch.full((rows,), torch.nan, device=batch.device)
    items, merges = work.tensors()
    if copied is not None:  # As WorkList.place lays them.
        both = torch.zeros(items.numel() + merges.numel(), dtype=torch.int32, device=batch.device)
        parts = both.split([items.numel(), merges.numel()])
        items, merges = parts[0].view_as(items), parts[1].view_as(merges)
    kernel[config].attend(
        "decode",
        out,
        lse,
        batch.q,
        k,
        v,
        pages,
        page_size,
        hnd,
        items,
        merges,
        copied,
        room,
        sums,
        None,
        None,
        sinks,
        *(None, None, None),
        1 / math.sqrt(shape.dim),
        v_scale,
        soft_cap,
        work.window_left,
        work.causal,
        *FREQUENCIES,
        None,
        True,
    )
    return out, lse


@pytest.mark.parametrize(
    ("config", "group"),
    [
        (PAGED, 8),
        (SMALL_GROUP, 2),
        pytest.param(Config(BF16, BF16, BF16, 128, True, 16), 5, marks=on_gpu),
        pytest.param(Config(HALF, HALF, HALF, 256, False, 16), 16, marks=on_gpu),
        pytest.param(Config(BF16, E4M3, BF16, 128, True, 16), 4, marks=on_gpu),
        pytest.param(Config(HALF, E5M2, HALF, 256, True, 16), 1, marks=on_gpu),
        pytest.param(Config(HALF, HALF, HALF, 128, False, 3, tensor_cores=False), 3, marks=on_gpu),
        pytest.param(Config(BF16, BF16, BF16, 256, True, 1, tensor_cores=False), 1, marks=on_gpu),
        pytest.param(Config(HALF, E4M3, HALF, 128, True, 2, tensor_cores=False), 2, marks=on_gpu),
        pytest.param(Config(BF16, E5M2, BF16, 64, True, 4, tensor_cores=False), 4, marks=on_gpu),
    ],
)
@pytest.mark.parametrize("cuts", [(), (1, 37, 64, 65)], ids=["whole", "split"])
@pytest.mark.parametrize("layout", ["NHD", "HND"])
def test_parts_of_any_length(
    layout: str, cuts: tuple[int, ...], config: Config, group: int, device: str
) -> None:
    shape = _shape(config, group, layout=layout, page_size=3)
    batch = Batch((1,) * 6, (0, 1, 16, 17, 70, 150), shape, device)
    work = WorkList(batch, config.rows, cuts, paged=config.paged)
    assert_attends(_attend(config, work), batch.expected())


@pytest.mark.parametrize("config", [PAGED, SMALL_GROUP], ids=["tensor cores", "CUDA cores"])
def test_sinks_and_the_scale_of_values_count_once(config: Config, device: str) -> None:
    batch = Batch((1,) * 3, (0, 9, 100), _shape(config, 2), device)
    sinks = torch.tensor([0.5, -1.0, 3.0, 0.0], device=device)
    work = WorkList(batch, config.rows, (40, 80))
    out, lse = _attend(config, work, sinks=sinks, v_scale=0.25)
    expected, sums = batch.expected(sinks=sinks)
    assert_attends((out, lse), (expected * 0.25, sums))


@pytest.mark.parametrize("window_left", [-1, 0, 20])
@pytest.mark.parametrize("cuts", [(), (33, 66)], ids=["whole", "split"])
def test_a_few_queries_of_a_request(cuts: tuple[int, ...], window_left: int, device: str) -> None:
    batch = Batch((3, 9, 6, 2), (100, 9, 4, 0), _shape(PAGED, 3), device)
    work = WorkList(batch, 16, cuts, causal=True, window_left=window_left)
    assert_attends(_attend(PAGED, work), batch.expected(causal=True, window_left=window_left))


@pytest.mark.parametrize("window_left", [0, 31, 32, 33, 200])
def test_a_window_of_one_query(window_left: int, device: str) -> None:
    batch = Batch((1, 1), (150, 20), _shape(SMALL_GROUP, 2), device)
    work = WorkList(batch, 2, window_left=window_left)
    assert_attends(_attend(SMALL_GROUP, work), batch.expected(window_left=window_left))


@pytest.mark.parametrize(
    "config",
    [
        Config(HALF, E4M3, HALF, 64, False, 16, rope=True),
        pytest.param(Config(BF16, BF16, BF16, 128, True, 16, rope=True), marks=on_gpu),
        pytest.param(Config(HALF, HALF, HALF, 256, True, 16, rope=True), marks=on_gpu),
        pytest.param(
            Config(HALF, HALF, HALF, 128, True, 2, rope=True, tensor_cores=False), marks=on_gpu
        ),
        pytest.param(
            Config(HALF, E5M2, HALF, 64, False, 1, rope=True, tensor_cores=False), marks=on_gpu
        ),
    ],
)
def test_keys_that_are_rotated_as_they_come(config: Config, device: str) -> None:
    group = min(config.rows, 4)
    batch = Batch((1, 1, 1), (1, 77, 130), _shape(config, group), device)
    work = WorkList(batch, config.rows, (40,), paged=config.paged)
    assert_attends(_attend(config, work), batch.expected(rope=FREQUENCIES), rope=True)


def test_another_group_than_the_module_is_built_for_is_refused(device: str) -> None:
    batch = Batch((1,), (4,), _shape(SMALL_GROUP, 4), device)
    with pytest.raises(ValueError, match="4 heads to a head of keys; this module is built for 2"):
        _attend(SMALL_GROUP, WorkList(batch, 2))


def test_a_list_comes_with_the_call(device: str) -> None:
    batch = Batch((1, 1), (40, 70), _shape(PAGED, 8), device)
    work = WorkList(batch, PAGED.rows)
    copied = torch.cat([x.flatten().cpu() for x in work.tensors()])
    assert_attends(_attend(PAGED, work, copied=copied), batch.expected())


def test_a_list_of_another_length_than_items_and_merges_is_refused(device: str) -> None:
    work = WorkList(Batch((1,), (4,), _shape(PAGED, 8), device), PAGED.rows)
    with pytest.raises(ValueError, match="argument 'list' has 3 numbers; it is on the host"):
        _attend(PAGED, work, copied=torch.zeros(3, dtype=torch.int32))
