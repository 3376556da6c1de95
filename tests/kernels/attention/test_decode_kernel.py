"""The kernels of decoding themselves, by work lists that a planner would not make."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.attention._config import Config

from .launched import FREQUENCIES, attend, shape_of
from .reference import Batch, assert_attends
from .work_lists import WorkList

HALF, BF16, E4M3, E5M2 = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2
PAGED = Config(BF16, BF16, BF16, 64, True, 16)
SMALL_GROUP = Config(BF16, BF16, BF16, 64, True, 2, tensor_cores=False)
on_gpu = pytest.mark.needs_gpu  # each more is a compile of some seconds


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
    shape = shape_of(config, group, layout=layout, page_size=3)
    batch = Batch((1,) * 6, (0, 1, 16, 17, 70, 150), shape, device)
    work = WorkList(batch, config.rows, cuts, paged=config.paged)
    assert_attends(attend(config, work), batch.expected())


@pytest.mark.parametrize("octaves", [20, 130])
def test_queries_for_8_bit_keys_are_of_any_size(octaves: int, device: str) -> None:
    """They become fp16, which has 40 powers of two."""
    config = Config(BF16, E4M3, BF16, 80, True, 16)
    batch = Batch((1,) * 3, (1, 17, 150), shape_of(config, 8), device, octaves=octaves)
    assert_attends(attend(config, WorkList(batch, config.rows)), batch.expected())


@pytest.mark.parametrize("config", [PAGED, SMALL_GROUP], ids=["tensor cores", "CUDA cores"])
def test_sinks_and_the_scale_of_values_count_once(config: Config, device: str) -> None:
    batch = Batch((1,) * 3, (0, 9, 100), shape_of(config, 2), device)
    sinks = torch.tensor([0.5, -1.0, 3.0, 0.0], device=device)
    work = WorkList(batch, config.rows, (40, 80))
    out, lse = attend(config, work, sinks=sinks, v_scale=0.25)
    expected, sums = batch.expected(sinks=sinks)
    assert_attends((out, lse), (expected * 0.25, sums))


@pytest.mark.parametrize("window_left", [-1, 0, 20])
@pytest.mark.parametrize("cuts", [(), (33, 66)], ids=["whole", "split"])
def test_a_few_queries_of_a_request(cuts: tuple[int, ...], window_left: int, device: str) -> None:
    batch = Batch((3, 9, 6, 2), (100, 9, 4, 0), shape_of(PAGED, 3), device)
    work = WorkList(batch, 16, cuts, causal=True, window_left=window_left)
    assert_attends(attend(PAGED, work), batch.expected(causal=True, window_left=window_left))


@pytest.mark.parametrize("window_left", [0, 31, 32, 33, 200])
def test_a_window_of_one_query(window_left: int, device: str) -> None:
    batch = Batch((1, 1), (150, 20), shape_of(SMALL_GROUP, 2), device)
    work = WorkList(batch, 2, window_left=window_left)
    assert_attends(attend(SMALL_GROUP, work), batch.expected(window_left=window_left))


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
    batch = Batch((1, 1, 1), (1, 77, 130), shape_of(config, group), device)
    work = WorkList(batch, config.rows, (40,), paged=config.paged)
    assert_attends(attend(config, work), batch.expected(rope=FREQUENCIES), rope=True)


def test_another_group_than_the_module_is_built_for_is_refused(device: str) -> None:
    batch = Batch((1,), (4,), shape_of(SMALL_GROUP, 4), device)
    with pytest.raises(ValueError, match="4 heads to a head of keys; this module is built for 2"):
        attend(SMALL_GROUP, WorkList(batch, 2))


def test_a_list_comes_with_the_call(device: str) -> None:
    batch = Batch((1, 1), (40, 70), shape_of(PAGED, 8), device)
    work = WorkList(batch, PAGED.rows)
    copied = torch.cat([x.flatten().cpu() for x in work.tensors()])
    assert_attends(attend(PAGED, work, copied=copied), batch.expected())


def test_a_list_of_another_length_than_items_and_merges_is_refused(device: str) -> None:
    work = WorkList(Batch((1,), (4,), shape_of(PAGED, 8), device), PAGED.rows)
    with pytest.raises(ValueError, match="argument 'list' has 3 numbers; it is on the host"):
        attend(PAGED, work, copied=torch.zeros(3, dtype=torch.int32))
