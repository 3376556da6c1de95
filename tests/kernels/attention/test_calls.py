"""Results that recorded calls should return: arguments are read as FlashInfer describes them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention._calls import CALLS, _drafts, _of_nibbles

HEADS, DIM, PAGE = 2, 4, 2


def _cache(tokens: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys that all score alike, and values that are the number of their token."""
    pages = -(-tokens // PAGE)
    v = torch.arange(pages * PAGE).view(pages, PAGE, 1, 1).expand(-1, -1, HEADS, DIM).double()
    return torch.zeros(pages, PAGE, HEADS, DIM), v


def _mean(*tokens: int) -> float:
    return sum(tokens) / len(tokens)


def _int(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32)


def _by_function(**more: Any) -> torch.Tensor:
    given = {
        "query": torch.zeros(2, HEADS, DIM),
        "kv_cache": _cache(6),
        "kv_layout": "NHD",
        "block_tables": _int(2, 0, 1).view(1, 3),
        "seq_lens": _int(5),
        "q_len_per_req": 2,
        **more,
    }
    (out,) = CALLS["xqa_batch_decode_with_kv_cache"]({}, {}, given)["returned"]
    return out[:, 0, 0]


def test_drafts_see_what_is_before_them_by_a_table_of_pages() -> None:
    assert _by_function().tolist() == pytest.approx([_mean(4, 5, 0, 1), _mean(4, 5, 0, 1, 2)])


def test_a_window_counts_from_each_draft() -> None:
    assert _by_function(window_left=1).tolist() == pytest.approx([_mean(0, 1), _mean(1, 2)])


def test_a_mask_is_among_the_drafts_alone() -> None:
    only_itself = torch.tensor([[1, 0], [2, 0]], dtype=torch.uint16).view(1, 2, 2)
    assert _by_function(mask=only_itself).tolist() == pytest.approx(
        [_mean(4, 5, 0, 1), _mean(4, 5, 0, 2)]
    )


def test_scales_multiply_results_and_a_request_without_keys_is_zero() -> None:
    assert float(_by_function(bmm2_scale=2.0)[0]) == pytest.approx(2 * _mean(4, 5, 0, 1))
    assert _by_function(seq_lens=_int(0)).tolist() == [0.0, 0.0]


def test_ragged_drafts_have_a_row_of_words_each() -> None:
    given = {
        "seq_lens": _int(9, 3),
        "q_cu_seq_lens": _int(0, 3, 4),
        "mask": torch.tensor([[1, 0], [3, 0], [7, 0], [1, 0]], dtype=torch.uint16),
    }
    begins, masks = _drafts(given)
    assert begins == [0, 3, 4]
    assert masks is not None
    assert [mask.tolist() for mask in masks if mask is not None] == [
        [[True, False, False], [True, True, False], [True] * 3],
        [[True]],
    ]


@pytest.mark.parametrize("override", [None, _int(0, 3)])
def test_a_plan_s_offsets_on_the_host_win(override: torch.Tensor | None) -> None:
    k, v = (x.view(-1, HEADS, DIM) for x in _cache(6))
    planned = {
        "indptr": _int(0, 3) if override is None else _int(0, 0),
        "indices": _int(5, 1, 0),
        "last_page_len": _int(1),
        "page_size": 1,
        "global_override_indptr_cpu": override,
    }
    given = {"q": torch.zeros(1, HEADS, DIM), "paged_kv_cache": (k, v)}
    (out,) = CALLS["BatchDecodeWithPagedKVCacheWrapper"]({}, planned, given)["returned"]
    assert float(out[0, 0, 0]) == pytest.approx(_mean(5, 1, 0))


def test_options_of_forward_win_over_those_of_plan() -> None:
    k, v = (x.view(-1, HEADS, DIM) for x in _cache(4))
    planned = {"qo_indptr": _int(0, 4), "kv_indptr": _int(0, 4), "causal": False}
    given = {"q": torch.zeros(4, HEADS, DIM), "k": k, "v": v}
    run = CALLS["BatchPrefillWithRaggedKVCacheWrapper"]
    (all_seen,) = run({}, planned, given)["returned"]
    forward = {**given, "causal": True, "logits_soft_cap": None, "sm_scale": None}
    (causal,) = run({}, planned, {**forward, "window_left": -1})["returned"]
    assert float(all_seen[0, 0, 0]) == pytest.approx(_mean(0, 1, 2, 3))
    assert causal[:, 0, 0].tolist() == pytest.approx([0.0, 0.5, 1.0, 1.5])


def test_two_values_of_4_bits_are_in_a_byte_the_first_in_the_low_bits() -> None:
    packed = torch.tensor([[0x21, 0x9F] + [0] * 6], dtype=torch.uint8)
    values = _of_nibbles(packed, torch.tensor([[2.0]]))
    assert values[0, :4].tolist() == [1.0, 2.0, -12.0, -1.0]
