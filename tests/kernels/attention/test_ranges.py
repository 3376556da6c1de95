"""Tests of causal attention with ranges beside its trace: windows, sums, and refusals."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
import torch

from fictl.kernels.attention._trace.reference import causal_or_range
from fictl.kernels.attention.ranges.op import BatchPrefillWithCausalBidirectionalRangesWrapper

from .reference import Batch, Shape, Sums, assert_attends, lengths, workspace


def _planned(batch: Batch, **options: Any) -> BatchPrefillWithCausalBidirectionalRangesWrapper:
    shape = batch.shape
    wrapper = BatchPrefillWithCausalBidirectionalRangesWrapper(
        workspace(batch.device), shape.layout, q_data_type=shape.dtype, kv_data_type=shape.dtype
    )
    sizes = (shape.heads, shape.kv_heads, shape.dim, shape.page_size)
    wrapper.plan(batch.qo_indptr, *batch.page_table(), *sizes, **options)
    return wrapper


def _ranges(batch: Batch, random: Random) -> torch.Tensor:
    """Any keys of the request, some of none, some beyond the last."""
    rows = []
    for queries, keys in zip(batch.q_lens, batch.kv_lens, strict=True):
        for _ in range(queries):
            ends = sorted(random.randint(0, keys + 5) for _ in range(2))
            rows.append(ends if random.random() < 0.7 else [-1, -1])
    return torch.tensor(rows, dtype=torch.int32).view(-1, 2)


def _expected(batch: Batch, ranges: torch.Tensor, windows: tuple[int, int]) -> Sums:
    parts = ranges.split([*batch.q_lens])
    sizes = zip(batch.q_lens, batch.kv_lens, parts, strict=True)
    masks = [causal_or_range(n, m, part, *windows).to(batch.device) for n, m, part in sizes]
    return batch.expected(masks)


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


@pytest.mark.parametrize("most", [3, 90], ids=["few-queries", "many-queries"])
def test_any_ranges_and_windows(most: int, random: Random, device: str) -> None:
    for _ in range(8 if device == "cuda" else 2):
        q_lens = [random.randint(0, most) for _ in range(3)] + [most]
        kv_lens = [max(n, m) for n, m in zip(q_lens, lengths(random, 4, 150), strict=True)]
        batch = Batch(q_lens, kv_lens, Shape(64), device, random.getrandbits(30))
        ranges = _ranges(batch, random)
        windows = (random.choice((-1, 0, 5, 70)), random.choice((-1, 0, 1, 9)))
        found = _planned(batch).run(
            batch.q, batch.cache(), ranges.to(device), *windows, return_lse=True
        )
        assert_attends(found, _expected(batch, ranges, windows), (q_lens, kv_lens, windows))


def test_no_range_is_causal(device: str) -> None:
    batch = Batch([20, 3], [31, 3], Shape(64), device)
    ranges = torch.full((23, 2), -1, dtype=torch.int32, device=device)
    found = _planned(batch).run(batch.q, batch.cache(), ranges, return_lse=True)
    assert_attends(found, batch.expected(causal=True))


def test_keys_after_a_query_are_seen_where_its_range_says_so(device: str) -> None:
    """A planner that skipped what is after a tile's queries would leave these keys out."""
    batch = Batch([70], [200], Shape(64), device)
    ranges = torch.tensor([[190, 199]], dtype=torch.int32, device=device).expand(70, 2)
    found = _planned(batch).run(batch.q, batch.cache(), ranges.contiguous(), return_lse=True)
    assert_attends(found, _expected(batch, ranges.cpu(), (-1, -1)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"causal": True}, r"'causal' is given; what queries see is said by run\(\)"),
        ({"window_left": 5}, r"'window_left' is given"),
        ({"custom_mask": torch.ones(1)}, r"'custom_mask' is given"),
        ({"prefix_len_ptr": torch.ones(1)}, r"'prefix_len_ptr' is given"),
    ],
)
def test_other_masks_are_refused(options: dict[str, Any], message: str, device: str) -> None:
    with pytest.raises(ValueError, match=message):
        _planned(Batch([5], [9], Shape(64), device), **options)


def test_positions_are_refused(device: str) -> None:
    with pytest.raises(NotImplementedError, match=r"'pos_encoding_mode' is 'ALIBI'; it is 'NONE'"):
        _planned(Batch([5], [9], Shape(64), device), pos_encoding_mode="ALIBI")


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        (torch.zeros(5, 2, dtype=torch.int64), r"is of torch.int64; pass a tensor of torch.int32"),
        (torch.zeros(10, dtype=torch.int32), r"has shape \(10,\); it is \(5, 2\), a row for each"),
        (torch.zeros(4, 2, dtype=torch.int32), r"has shape \(4, 2\); it is \(5, 2\)"),
        (torch.zeros(5, 4, dtype=torch.int32)[:, ::2], r"is not contiguous: strides \(4, 2\)"),
    ],
)
def test_ranges_are_refused_in_words(ranges: torch.Tensor, message: str, device: str) -> None:
    batch = Batch([5], [9], Shape(64), device)
    # Of the same strides: to() would make it contiguous.
    there = torch.empty_strided(ranges.shape, ranges.stride(), dtype=ranges.dtype, device=device)
    with pytest.raises(ValueError, match=f"'bidirectional_ranges' {message}"):
        _planned(batch).run(batch.q, batch.cache(), there.zero_())


def test_ranges_out_of_order_are_found_where_inputs_are_validated(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_VALIDATE_INPUTS", "1")
    batch = Batch([5], [9], Shape(64), device)
    ranges = torch.tensor([[-1, -1], [3, 4], [6, 2], [0, 0], [1, 0]], dtype=torch.int32)
    with pytest.raises(ValueError, match=r"is \(6, 2\) at query 2; the first key comes first"):
        _planned(batch).run(batch.q, batch.cache(), ranges.to(device))
