"""What the traces of positions cannot say: padding, empty requests, integer types, refusals."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from fictl.kernels.page.positions.op import get_batch_indices_positions, get_seq_lens

INTEGERS = (torch.int32, torch.int64)
PAIRS = [*product(INTEGERS, INTEGERS)]


@pytest.fixture
def ints(device: str):
    def make(*values: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
        return torch.tensor(values, device=device, dtype=dtype)

    return make


@pytest.mark.parametrize(("of_indptr", "of_lens"), PAIRS)
def test_any_integers_say_where_and_how_long(of_indptr, of_lens, ints) -> None:
    indptr, lens = ints(0, 1, 3, 6, 10, dtype=of_indptr), ints(5, 5, 5, 5, dtype=of_lens)
    indices, positions = get_batch_indices_positions(indptr, lens, 10)
    assert indices.tolist() == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    assert positions.tolist() == [4, 3, 4, 2, 3, 4, 1, 2, 3, 4]
    assert indices.dtype == positions.dtype == torch.int32


def test_entries_of_no_request_are_marked(ints) -> None:
    got = get_batch_indices_positions(ints(2, 3, 5), ints(7, 9), 8)
    assert [x.tolist() for x in got] == [[-1, -1, 0, 1, 1, -1, -1, -1], [0, 0, 6, 7, 8, 0, 0, 0]]


def test_requests_that_append_nothing_have_no_entry(ints) -> None:
    indptr, lens = ints(0, 0, 0, 2, 2, 3, 3), ints(1, 2, 30, 4, 50, 6)
    indices, positions = get_batch_indices_positions(indptr, lens, 3)
    assert (indices.tolist(), positions.tolist()) == ([2, 2, 4], [28, 29, 49])


def test_no_more_entries_are_written_than_there_is_room_for(ints) -> None:
    indices, positions = get_batch_indices_positions(ints(0, 4, 100), ints(4, 96), 6)
    assert (indices.tolist(), positions.tolist()) == ([0, 0, 0, 0, 1, 1], [0, 1, 2, 3, 0, 1])


def test_without_requests_every_entry_is_of_none(ints) -> None:
    for indptr in (ints(0), ints(3)):
        indices, positions = get_batch_indices_positions(indptr, ints(), 4)
        assert (indices.tolist(), positions.tolist()) == ([-1] * 4, [0] * 4)


@pytest.mark.parametrize("requests", [255, 256, 2048, 2303, 2304, 3000])
def test_any_number_of_requests_of_one_entry(requests: int, device: str) -> None:
    indptr = torch.arange(requests + 1, device=device, dtype=torch.int32)
    lens = torch.randint(1, 9000, (requests,), device=device, dtype=torch.int32)
    indices, positions = get_batch_indices_positions(indptr, lens, requests + 3)
    assert torch.equal(indices[:requests], indptr[:-1])
    assert torch.equal(positions[:requests], lens - 1)
    assert indices[requests:].tolist() == [-1] * 3
    assert positions[requests:].tolist() == [0] * 3


def test_results_go_where_they_are_wanted_and_nowhere_else(ints, device: str) -> None:
    whole = torch.full((2, 20), 77, device=device, dtype=torch.int32)
    indices, positions = whole[0, 3:13], whole[1, 5:15]
    got = get_batch_indices_positions(ints(0, 4, 8), ints(4, 4), 10, indices, positions)
    assert got[0] is indices
    assert got[1] is positions
    assert indices.tolist() == [0] * 4 + [1] * 4 + [-1] * 2
    assert positions.tolist() == [0, 1, 2, 3] * 2 + [0] * 2
    assert int((whole == 77).sum()) == 20


@pytest.mark.parametrize(("of_indptr", "of_last"), PAIRS)
def test_lengths_are_as_wide_as_what_they_are_made_of(of_indptr, of_last, ints) -> None:
    lens = get_seq_lens(ints(0, 3, 3, 4, dtype=of_indptr), ints(5, 0, 16, dtype=of_last), 16)
    assert lens.tolist() == [37, 0, 16]
    assert lens.dtype == torch.promote_types(of_indptr, of_last)


def test_a_length_beyond_2_to_the_31_is_right(ints) -> None:
    lens = get_seq_lens(ints(0, 1 << 20, dtype=torch.int64), ints(7), 1 << 16)
    assert lens.tolist() == [((1 << 20) - 1) * (1 << 16) + 7]


def test_lengths_go_where_they_are_wanted(ints) -> None:
    out = ints(9, 9, 9)
    assert get_seq_lens(ints(0, 2, 3), ints(1, 2), 8, out=out[1:]).data_ptr() == out[1:].data_ptr()
    assert out.tolist() == [9, 9, 2]
    assert get_seq_lens(ints(0), ints(), 8).tolist() == []


def test_sizes_that_do_not_fit_are_refused_by_name(ints) -> None:
    indptr, lens, out = ints(0, 4, 8), ints(4, 4), ints(*range(9))
    with pytest.raises(
        ValueError, match=r"'append_indptr' has shape \(0,\); of n requests it has n"
    ):
        get_batch_indices_positions(ints(), lens, 8)
    with pytest.raises(ValueError, match="'seq_lens' has 3 elements, 'append_indptr' of 3 has 2"):
        get_batch_indices_positions(indptr, ints(4, 4, 4), 8)
    with pytest.raises(ValueError, match=r"'batch_indices' has shape \(9,\); nnz is 8"):
        get_batch_indices_positions(indptr, lens, 8, out, out[1:])
    with pytest.raises(ValueError, match="'positions' is not contiguous"):
        get_batch_indices_positions(indptr, lens, 4, out[:4], out[:8:2])
    with pytest.raises(ValueError, match="'seq_lens' is not contiguous"):
        get_batch_indices_positions(indptr, out[:4:2], 8)
    with pytest.raises(ValueError, match="'kv_last_page_len' has 1 elements, 'kv_indptr' of 3"):
        get_seq_lens(indptr, ints(4), 8)
    with pytest.raises(ValueError, match=r"'out' has shape \(9,\)"):
        get_seq_lens(indptr, lens, 8, out=out)


def test_other_dtypes_are_refused_by_name(ints) -> None:
    indptr, lens = ints(0, 4, 8), ints(4, 4)
    with pytest.raises(TypeError, match="'append_indptr' has dtype int16; accepted: int32, int64"):
        get_batch_indices_positions(indptr.short(), lens, 8)
    with pytest.raises(TypeError, match="'seq_lens' has dtype float32; accepted: int32, int64"):
        get_batch_indices_positions(indptr, lens.float(), 8)
    with pytest.raises(TypeError, match="'positions' has dtype int64; accepted: int32"):
        get_batch_indices_positions(indptr, lens, 2, lens, lens.long())
    with pytest.raises(TypeError, match="'out' has dtype int32; accepted: int64"):
        get_seq_lens(indptr, lens.long(), 8, out=lens)


@pytest.mark.needs_gpu
def test_a_cuda_graph_goes_on_with_other_batches(ints) -> None:
    indptr, lens = ints(0, 4, 8), ints(4, 4)
    get_batch_indices_positions(indptr, lens, 8)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        indices, positions = get_batch_indices_positions(indptr, lens, 8)
    indptr.copy_(ints(0, 1, 3))
    lens.copy_(ints(5, 6))
    graph.replay()
    assert indices.tolist() == [0, 1, 1] + [-1] * 5
    assert positions.tolist() == [4, 4, 5] + [0] * 5
