"""Refusals of decoding as one call, and their words."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention.planned_decode.op import (
    xqa,
    xqa_batch_decode_with_kv_cache,
)

from .reference import Batch, Shape
from .tables import decode, ints, memory, moved, table

BF16 = torch.bfloat16
SCALE = 64**-0.5


def _shape(layout: str = "HND") -> Shape:
    return Shape(64, 4, 2, page_size=16, layout=layout)


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"kv_cache_sf": ()}, ValueError, "'kv_cache_sf' is given, and the cache has dtype"),
    ({"skip_softmax_threshold_scale_factor": 1.0}, NotImplementedError, "softmax here is exact"),
    ({"uses_shared_paged_kv_idx": False}, ValueError, r"it is \(requests, 2, most_pages\)"),
    ({"out_dtype": "nvfp4"}, NotImplementedError, "results of 4 bits are not here"),
    ({"enable_block_sparse_attention": True}, NotImplementedError, "enable_block_sparse_attention"),
    ({"cp_world": 2}, NotImplementedError, "cp_world"),
    ({"backend": "cake"}, NotImplementedError, "'backend' is 'cake'; there are 'auto'"),
    ({"kv_layout": "HDN"}, ValueError, "'kv_layout' is 'HDN'"),
    ({"q_len_per_req": 0}, ValueError, "'q_len_per_req' is 0; it is a number from 1 on"),
    ({"q_len_per_req": None}, ValueError, "'q_len_per_req' is None"),
    ({"max_q_len": 2}, ValueError, "'max_q_len' is 2, and 'cum_seq_lens_q' is None"),
    ({"q_len_per_req": 2}, ValueError, r"'query' has shape \(2, 4, 64\); 2 rows .* make 4 tokens"),
    ({"seq_lens": torch.zeros(3, dtype=torch.int32)}, ValueError, r"'seq_lens' has shape \(3,\)"),
    ({"seq_lens": torch.zeros(2, dtype=torch.int64)}, TypeError, "'seq_lens' has dtype int64"),
    ({"bmm1_scale": torch.ones(2)}, ValueError, r"'bmm1_scale' has shape \(2,\)"),
    ({"bmm1_scale": 0.0}, ValueError, "'sm_scale' is 0; it is above 0"),
    ({"mask": torch.zeros(2, 1, 1, dtype=torch.uint16)}, ValueError, r"'mask' has shape \(2, 1, 1"),
    ({"sinks": torch.zeros(3)}, ValueError, r"'sinks' has shape \(3,\); there are 4 heads"),
    ({"kv_cache": torch.zeros(2, 3)}, ValueError, r"'kv_cache' has shape \(2, 3\)"),
    ({"out": torch.zeros(2, 4, 64)}, TypeError, "out of float32; accepted: float16 or bfloat16"),
    (
        {"out": torch.zeros(2, 4, 64, 2, dtype=BF16)},
        ValueError,
        r"'out' has shape \(2, 4, 64, 2\) .* no view of \(2, 4, 64\)",
    ),
    ({"kv_cache": torch.zeros(3, 2, 2, 0, 64, dtype=BF16)}, ValueError, "pages of no slots"),
    ({"kv_cache": (None, None)}, TypeError, "'kv_cache' is a tuple; pass a tensor, or a tuple"),
    (
        {"workspace": torch.zeros(9)},
        ValueError,
        "'workspace_buffer' has 36 bytes; the first 8388608",
    ),
]


@pytest.mark.parametrize(("options", "kind", "message"), REFUSED)
def test_it_is_refused_in_words(
    options: dict[str, Any], kind: type[Exception], message: str, device: str
) -> None:
    given = {"workspace": memory(device), **moved(options, device)}
    with pytest.raises(kind, match=message):
        decode(Batch([1, 1], [9, 3], _shape(), device), **given)


def test_queries_that_requests_do_not_share_evenly(device: str) -> None:
    batch = Batch([1, 1, 1], [9, 3, 5], _shape(layout="NHD"), device)
    given = (batch.cache(), memory(device), table(batch), ints([9, 3, 5], device), 64, SCALE)
    with pytest.raises(ValueError, match=r"'query' has shape \(3, 4, 64\); .* make 6 tokens"):
        xqa_batch_decode_with_kv_cache(batch.q, *given, q_len_per_req=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"q": torch.zeros(2, 4, 3, 64, dtype=BF16).transpose(1, 2).unsqueeze(1)}, "'q' has shape"),
        ({"k_sf_cache": torch.zeros(1)}, "'v_sf_cache' is None; pass scales of both caches"),
    ],
)
def test_xqa_refuses_in_words(options: dict[str, Any], message: str, device: str) -> None:
    batch = Batch([3, 3], [50, 40], _shape(layout="NHD"), device)
    k, v = batch.caches()
    given = {"q": batch.q.reshape(2, 1, 3, 4, 64), "output": torch.empty(6, 4, 64, device=device)}
    semaphores = torch.zeros(512, dtype=torch.int32, device=device)
    with pytest.raises(ValueError, match=message):
        xqa(
            k_cache=k,
            v_cache=v,
            page_table=table(batch),
            seq_lens=ints([50, 40], device),
            workspace_buffer=memory(device),
            semaphores=semaphores,
            num_kv_heads=2,
            page_size=16,
            q_seq_len=3,
            **{**given, "output": given["output"].to(BF16), **moved(options, device)},
        )


@pytest.mark.parametrize(("offset", "message"), [(4, "'workspace_buffer' .* 16 b"), (2, "4 bytes")])
def test_a_workspace_that_is_not_aligned(offset: int, message: str, device: str) -> None:
    memory_of = torch.zeros(9 << 20, dtype=torch.uint8, device=device)[offset:]
    with pytest.raises(ValueError, match=message):
        decode(Batch([1, 1], [9, 3], _shape(), device), memory_of)
