"""Single-request attention beyond its traces: layouts, odd lengths and groups of heads."""

from __future__ import annotations

import pytest

from fictl.kernels.attention.single.op import (
    single_decode_with_kv_cache,
    single_prefill_with_kv_cache,
)

from .reference import Batch, Shape, assert_attends


@pytest.mark.parametrize("causal", [False, True])
def test_many_queries(causal: bool, device: str) -> None:
    for layout, rows, keys in (("NHD", 20, 33), ("HND", 17, 7)):
        batch = Batch([rows], [keys], Shape(64, 3, 1, layout=layout), device)
        found = single_prefill_with_kv_cache(
            batch.q, *batch.ragged(), causal=causal, kv_layout=layout, return_lse=True
        )
        assert_attends(found, batch.expected(causal=causal), batch.shape)


@pytest.mark.needs_gpu
@pytest.mark.parametrize("group", [1, 2, 3, 4, 7, 8, 16])
def test_one_query(group: int, device: str) -> None:
    for layout, length in (("NHD", 1), ("HND", 777), ("NHD", 30000)):
        batch = Batch([1], [length], Shape(128, 2 * group, 2, layout=layout), device)
        k, v = batch.ragged()
        found = single_decode_with_kv_cache(batch.q[0], k, v, layout, return_lse=True)
        out, lse = batch.expected(causal=True)
        assert_attends(found, (out[0], lse[0]), (group, layout, length))
