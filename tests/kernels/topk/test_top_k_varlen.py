"""Tests of top_k_varlen beside its trace: lengths that follow from requests, values, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.kernels.topk.top_k import trace
from fictl.kernels.topk.top_k.op import top_k_varlen

LARGE = 2
Randn = Callable[..., torch.Tensor]
# Without tokens, fewer than next_n, at the width of a row and beyond it, and what is no length.
LENGTHS = (0, 1, 2, 299, 300, 301, 1207, 10**6, -3, -(2**31), 2**31 - 1, 17)


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _ints(like: torch.Tensor, *numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int32, device=like.device)


def _check(logits: torch.Tensor, seq_lens: torch.Tensor, top_k: int, **options: Any) -> Any:
    """Indices and values, judged as the trace does."""
    indices, values = top_k_varlen(logits, seq_lens, top_k, return_values=True, **options)
    inputs = {"logits": logits, "seq_lens": seq_lens, "top_k": top_k, **options}
    trace.top_k_varlen.judge(inputs, {"out_indices": indices, "out_values": values})
    return indices, values


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize(("next_n", "compress_ratio"), [(1, 1), (3, 1), (1, 4), (4, 4), (5, 1000)])
def test_a_row_has_what_its_request_leaves_it(
    next_n: int, compress_ratio: int, dtype: torch.dtype, randn: Randn
) -> None:
    logits = randn(len(LENGTHS) * next_n, 300, dtype=dtype)
    seq_lens = _ints(logits, *LENGTHS)
    for top_k in (1, 64, 333):
        _check(logits, seq_lens, top_k, next_n=next_n, compress_ratio=compress_ratio)


def test_drafts_see_one_token_more_each(randn: Randn) -> None:
    logits = randn(4, 9)
    indices, values = _check(logits, _ints(logits, 3), 5, next_n=4, deterministic=True)
    counts = [[*range(n), *[-1] * (5 - n)] for n in range(4)]
    assert indices.tolist() == counts
    assert bool((values[indices < 0] == 0).all())
    assert torch.equal(values[3, :3], logits[3, :3])


def test_a_row_in_parts_of_a_list_and_counted_in_full(randn: Randn) -> None:
    logits = randn(4, 9001).round()
    seq_lens = _ints(logits, 9001, 8999)
    for options in ({"deterministic": True}, {"tie_break": LARGE}):
        for top_k in (60, 8500):
            _check(logits, seq_lens, top_k, next_n=2, **options)


def test_nan_infinities_and_ties(randn: Randn) -> None:
    logits = randn(5, 40)
    logits[0] = float("-inf")
    logits[1, ::3] = float("nan")
    logits[2, 5:] = float("inf")
    logits[3] = 1.0
    logits[4, 20:] = float("nan")  # Behind the last token: not looked at.
    indices, _ = _check(logits, _ints(logits, 40, 40, 40, 40, 20), 9, deterministic=True)
    assert indices[0].tolist() == indices[3].tolist() == list(range(9))
    assert int(indices[4].max()) < 20


def test_outputs_that_are_given(randn: Randn) -> None:
    logits, whole = randn(2, 50), randn(2, 9)
    seq_lens = _ints(logits, 50, 3)
    flat = torch.empty(10, dtype=torch.int32, device=logits.device)
    values = whole[:, 1:6]
    indices, got = top_k_varlen(
        logits, seq_lens, 5, return_values=True, out_indices=flat, out_values=values
    )
    assert indices.shape == (2, 5)
    assert indices.data_ptr() == flat.data_ptr()
    assert got is values
    rows = torch.full((2, 9), 77, dtype=torch.int32, device=logits.device)
    indices, nothing = top_k_varlen(logits, seq_lens, 5, out_indices=rows[:, 2:7])
    assert nothing is None
    assert torch.equal(indices.sort().values, flat.view(2, 5).sort().values)
    assert bool((rows[:, [0, 1, 7, 8]] == 77).all())


def test_rows_at_a_stride_that_start_anywhere(randn: Randn) -> None:
    for dtype, start in ((torch.float16, 3), (torch.float32, 1), (torch.bfloat16, 8)):
        logits = randn(4, 333, dtype=dtype)[:, start : start + 301]
        lengths = torch.stack([_ints(logits, 301, 77).long()] * 2, dim=1)[:, 1]
        _check(logits, lengths, 16, next_n=2)


def test_nothing_to_choose_from(randn: Randn) -> None:
    logits = randn(0, 8)
    assert _check(logits, _ints(logits), 3, next_n=4)[0].shape == (0, 3)
    logits = randn(2, 0)
    assert _check(logits, _ints(logits, 0, 7), 3)[0].tolist() == [[-1] * 3] * 2
    logits = randn(2, 8)
    assert _check(logits, _ints(logits, 8, 8), 0)[0].shape == (2, 0)


def test_hints_change_nothing(randn: Randn) -> None:
    logits = randn(3, 64)
    seq_lens = _ints(logits, 64, 9, 0)
    expected = top_k_varlen(logits, seq_lens, 4, deterministic=True)[0]
    hint = torch.full((3, 4), -9, dtype=torch.int32, device=logits.device)
    for backend in ("radix", "radix_cutlass", "radix_filter", "gvr", "gvr_2"):
        given = {"pre_idx": hint, "backend": backend, "load_balance": False, "workspace": {}}
        assert torch.equal(
            top_k_varlen(logits, seq_lens, 4, **given, deterministic=True)[0], expected
        )


def test_what_does_not_fit_is_refused_by_name(randn: Randn) -> None:
    logits = randn(4, 32)
    lengths, of = _ints(logits, 1, 2, 3, 4), "top_k_varlen: .*"
    with pytest.raises(ValueError, match=rf"{of}'seq_lens' has shape \(4,\), .* next_n is 2"):
        top_k_varlen(logits, lengths, 2, next_n=2)
    with pytest.raises(ValueError, match=rf"{of}'seq_lens' has shape \(1,\), .* next_n is 3"):
        top_k_varlen(logits, lengths[:1], 2, next_n=3)
    with pytest.raises(ValueError, match=rf"{of}'seq_lens' has dtype float32"):
        top_k_varlen(logits, lengths.float(), 2)
    with pytest.raises(ValueError, match=rf"{of}'top_k' is -1, 'logits' has rows of 32"):
        top_k_varlen(logits, lengths, -1)
    for name in ("next_n", "compress_ratio"):
        for count in (0, -1, 2**31):
            with pytest.raises(ValueError, match=rf"{of}'{name}' is {count}; pass 1"):
                top_k_varlen(logits, lengths, 2, **{name: count})
    with pytest.raises(ValueError, match=rf"{of}'backend' is 'cub'; accepted: auto, radix"):
        top_k_varlen(logits, lengths, 2, backend="cub")
    with pytest.raises(TypeError, match=rf"{of}'out_indices' has dtype int64"):
        top_k_varlen(logits, lengths, 2, out_indices=lengths.new_empty((4, 2)).long())
    with pytest.raises(ValueError, match=rf"{of}'out_indices' has shape \(2, 4\); it is \(4, 2\)"):
        top_k_varlen(logits, lengths, 2, out_indices=lengths.new_empty((2, 4)))
    with pytest.raises(TypeError, match=rf"{of}'out_values' has dtype float16; accepted: float32"):
        top_k_varlen(logits, lengths, 2, return_values=True, out_values=randn(4, 2).half())
    with pytest.raises(ValueError, match=rf"{of}'logits' has shape \(32,\)"):
        top_k_varlen(logits[0], lengths, 2)


@pytest.mark.needs_gpu
@pytest.mark.parametrize("requests", [1, 9, 64])
def test_long_rows_that_blocks_share(requests: int, randn: Randn) -> None:
    logits = randn(requests * 2, 70_001)
    seq_lens = torch.randint(0, 75_000, (requests,), device=logits.device, dtype=torch.int32)
    for top_k in (1, 2048, 5000):
        _check(logits, seq_lens, top_k, next_n=2, tie_break=LARGE)
        _check(logits, seq_lens, top_k, next_n=2, compress_ratio=4)


@pytest.mark.needs_gpu
def test_a_graph_reads_the_lengths_again(randn: Randn) -> None:
    logits, seq_lens = randn(4, 5000), torch.tensor([5000, 100], device="cuda", dtype=torch.int32)
    out = torch.empty((4, 64), dtype=torch.int32, device="cuda")
    values = torch.empty((4, 64), device="cuda")
    given = {"next_n": 2, "out_indices": out, "out_values": values, "return_values": True}
    top_k_varlen(logits, seq_lens, 64, **given)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        top_k_varlen(logits, seq_lens, 64, **given)
    for lengths in ([7, 4999], [0, 10**6]):
        seq_lens.copy_(torch.tensor(lengths))
        graph.replay()
        inputs = {"logits": logits, "seq_lens": seq_lens, "top_k": 64, "next_n": 2}
        trace.top_k_varlen.judge(inputs, {"out_indices": out, "out_values": values})
