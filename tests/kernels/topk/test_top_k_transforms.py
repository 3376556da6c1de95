"""What the traces of the transforms cannot say: lengths and starts at the ends, pages, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.kernels.topk.top_k import trace
from fictl.kernels.topk.top_k.op import top_k_page_table_transform, top_k_ragged_transform

SMALL, LARGE = 1, 2
Randn = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _ints(like: torch.Tensor, *numbers: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.tensor(numbers, dtype=dtype, device=like.device)


def _table(like: torch.Tensor, rows: int, cols: int) -> torch.Tensor:
    return torch.randperm(rows * cols, device=like.device).to(torch.int32).view(rows, cols)


def _pages(**inputs: Any) -> torch.Tensor:
    out = top_k_page_table_transform(**inputs)
    trace.top_k_page_table_transform.judge(inputs, {"out": out})
    return out


def _ragged(**inputs: Any) -> torch.Tensor:
    out = top_k_ragged_transform(**inputs)
    trace.top_k_ragged_transform.judge(inputs, {"out": out})
    return out


LENGTHS = (0, 1, 15, 16, 17, 400, 9100, 10**6, -3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_lengths_at_the_ends(dtype: torch.dtype, randn: Randn) -> None:
    x = randn(len(LENGTHS), 9100, dtype=dtype)
    lengths = _ints(x, *LENGTHS)
    out = _ragged(input=x, offsets=lengths * 0 + 7, lengths=lengths, k=16)
    assert out[3].tolist() == list(range(7, 23))
    assert out[1].tolist() == [7, *[-1] * 15]
    _pages(input=x, src_page_table=_table(x, len(x), 9100), lengths=lengths, k=16)


def test_a_k_beyond_the_row(randn: Randn) -> None:
    x = randn(3, 20)
    lengths = _ints(x, 20, 4, 0)
    out = _ragged(input=x, offsets=_ints(x, 0, 100, 200), lengths=lengths, k=33)
    assert out[0].tolist() == [*range(20), *[-1] * 13]
    assert out[1].tolist() == [*range(100, 104), *[-1] * 29]
    raw = torch.empty_like(out)
    table = _table(x, 3, 20)
    out = _pages(input=x, src_page_table=table, lengths=lengths, k=33, out_raw_indices=raw)
    assert raw[1].tolist() == [*range(4), *[-1] * 29]
    assert torch.equal(out[0, :20], table[0])


@pytest.mark.parametrize("tie_break", [0, SMALL, LARGE])
def test_rows_that_start_anywhere(tie_break: int, randn: Randn) -> None:
    x = randn(5, 9500).round()
    starts, lengths = _ints(x, 0, 3, 77, 9499, 10**6), _ints(x, 9400, 8999, 9423, 9, 9)
    given = {"input": x, "lengths": lengths, "row_starts": starts, "tie_break": tie_break}
    out = _ragged(**given, offsets=lengths * 0, k=50, deterministic=True)
    assert out[4].tolist() == [-1] * 50
    assert bool((out[:3].diff(dim=1) > 0).all())
    table = _table(x, 5, 9500)
    _pages(**given, src_page_table=table, k=50)
    _pages(**given, src_page_table=table, k=50, page_table_row_starts=starts // 3)


@pytest.mark.parametrize("page_size", [1, 2, 16, 64])
def test_pages(page_size: int, randn: Randn) -> None:
    x = randn(4, 1000)
    lengths, raw = _ints(x, 1000, 500, 30, 777), _ints(x, *range(160)).view(4, 40)
    given = {"input": x, "lengths": lengths, "page_size": page_size, "out_raw_indices": raw}
    table = _table(x, 3, 1000 // page_size + 1)
    out = _pages(**given, src_page_table=table, k=40, row_to_batch=_ints(x, 2, 0, 0, 1))
    pages, offsets = raw[3] // page_size, raw[3] % page_size
    assert torch.equal(out[3], table[1][pages.long()] * page_size + offsets)
    assert raw[2, 30:].tolist() == out[2, 30:].tolist() == [-1] * 10
    starts = _ints(x, 1, 5, 2, 0)
    _pages(
        **given,
        src_page_table=table,
        k=40,
        row_to_batch=_ints(x, 2, 0, 0, 1),
        row_starts=starts * 3,
        page_table_row_starts=starts,
    )


def test_what_the_table_has_no_entry_for_is_none(randn: Randn) -> None:
    x = randn(3, 100)
    lengths = _ints(x, 100, 100, 100)
    given = {"input": x, "src_page_table": _table(x, 2, 60), "lengths": lengths, "k": 100}
    raw = torch.empty((3, 100), dtype=torch.int32, device=x.device)
    out = top_k_page_table_transform(**given, out_raw_indices=raw)
    assert out[0, 60:].tolist() == out[2, :40].tolist() == [-1] * 40
    assert bool((raw >= 0).all())
    out = top_k_page_table_transform(**given, row_to_batch=_ints(x, -1, 2, 1))
    assert bool((out[:2] == -1).all())
    assert bool((out[2, :60] >= 0).all())
    out = top_k_page_table_transform(**given, page_table_row_starts=_ints(x, -50, 59, 0))
    assert out[0, :50].tolist() == [-1] * 50
    assert out[1, 1:].tolist() == [-1] * 99


def test_indices_of_either_width(randn: Randn) -> None:
    x = randn(3, 50)
    lengths, offsets = _ints(x, 50, 20, 7), _ints(x, 0, 50, 100)
    expected = _ragged(input=x, offsets=offsets, lengths=lengths, k=9, deterministic=True)
    wide = torch.stack((lengths, offsets), dim=1).long()
    out = _ragged(input=x, offsets=wide[:, 1], lengths=wide[:, 0], k=9, deterministic=True)
    assert torch.equal(out, expected)


def test_results_go_where_they_are_wanted(randn: Randn) -> None:
    x = randn(2, 50)
    lengths = _ints(x, 50, 3)
    whole = torch.full((2, 9), 77, dtype=torch.int32, device=x.device)
    out = top_k_ragged_transform(x, lengths * 0, lengths, 5, out=whole[:, 2:7])
    assert out.data_ptr() == whole[:, 2:].data_ptr()
    assert bool((whole[:, [0, 1, 7, 8]] == 77).all())
    made = torch.empty((2, 5), dtype=torch.int32, device=x.device)
    assert top_k_page_table_transform(x, _table(x, 2, 50), lengths, 5, out=made) is made


def test_what_does_not_fit_is_refused_by_name(randn: Randn) -> None:
    x = randn(4, 32)
    lengths, table = _ints(x, 1, 2, 3, 4), _table(x, 4, 32)
    of_pages, of_ragged = "top_k_page_table_transform: .*", "top_k_ragged_transform: .*"
    with pytest.raises(ValueError, match=rf"{of_ragged}'lengths' has shape \(3,\)"):
        top_k_ragged_transform(x, lengths, lengths[:3], 2)
    with pytest.raises(ValueError, match=rf"{of_ragged}'offsets' has dtype float32"):
        top_k_ragged_transform(x, lengths.float(), lengths, 2)
    with pytest.raises(ValueError, match=rf"{of_ragged}'k' is -1"):
        top_k_ragged_transform(x, lengths, lengths, -1)
    with pytest.raises(TypeError, match=rf"{of_ragged}'out' has dtype int64; accepted: int32"):
        top_k_ragged_transform(x, lengths, lengths, 2, out=torch.empty(4, 2).long().to(x.device))
    for page_size in (0, 3, 1 << 31):
        with pytest.raises(ValueError, match=rf"{of_pages}'page_size' is {page_size}"):
            top_k_page_table_transform(x, table, lengths, 2, page_size=page_size)
    with pytest.raises(ValueError, match=rf"{of_pages}'page_table_row_starts' is None"):
        top_k_page_table_transform(x, table, lengths, 2, row_starts=lengths, page_size=4)
    with pytest.raises(
        TypeError, match=rf"{of_pages}'src_page_table' has dtype int64; accepted: int32"
    ):
        top_k_page_table_transform(x, table.long(), lengths, 2)
    with pytest.raises(ValueError, match=rf"{of_pages}'out_raw_indices' has shape \(4, 3\)"):
        raw = torch.empty((4, 3), dtype=torch.int32, device=x.device)
        top_k_page_table_transform(x, table, lengths, 2, out_raw_indices=raw)


@pytest.mark.needs_gpu
@pytest.mark.parametrize("rows", [1, 9, 64, 200])
def test_long_rows_that_blocks_share(rows: int, randn: Randn) -> None:
    x = randn(rows, 70_001)
    lengths = torch.randint(0, 70_002, (rows,), device=x.device, dtype=torch.int32)
    starts = torch.randint(0, 30_000, (rows,), device=x.device, dtype=torch.int32)
    for k in (1, 2048, 5000):
        _ragged(input=x, offsets=starts, lengths=lengths, k=k, row_starts=starts, tie_break=LARGE)
        _pages(input=x, src_page_table=_table(x, rows, 80_000), lengths=lengths, k=k)
