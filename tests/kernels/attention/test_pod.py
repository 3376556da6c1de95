"""Tests of POD beside its traces: masks, sums, plans again, and refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention.pod.op import (
    BatchPODWithPagedKVCacheWrapper,
    PODWithPagedKVCacheWrapper,
)

from .reference import Batch, Shape, assert_attends, workspace

SHAPE = Shape(64)
SIZES = (SHAPE.heads, SHAPE.kv_heads, SHAPE.dim, SHAPE.page_size)


def _batches(device: str) -> tuple[Batch, Batch]:
    return Batch([20], [31], SHAPE, device), Batch([1, 1, 1], [9, 0, 30], SHAPE, device, seed=1)


def _planned(device: str) -> tuple[Batch, Batch, PODWithPagedKVCacheWrapper]:
    prefill, decode = _batches(device)
    wrapper = PODWithPagedKVCacheWrapper(workspace(device))
    wrapper.plan(*decode.page_table(), *SIZES, q_data_type=SHAPE.dtype)
    return prefill, decode, wrapper


def _batch_planned(device: str) -> tuple[Batch, Batch, BatchPODWithPagedKVCacheWrapper]:
    prefill, decode = _batches(device)
    wrapper = BatchPODWithPagedKVCacheWrapper(workspace(device))
    tables = [x for batch in (prefill, decode) for x in (batch.qo_indptr, *batch.page_table())]
    wrapper.plan(*tables, *SIZES, q_data_type=SHAPE.dtype)
    return prefill, decode, wrapper


def test_sums_come_where_they_are_asked_for(device: str) -> None:
    prefill, decode, wrapper = _planned(device)
    tensors = (prefill.q, *prefill.ragged(), decode.q, decode.cache())
    first, second = wrapper.run(*tensors, causal_p=True, return_lse_p=True, return_lse_d=True)
    assert_attends(first, prefill.expected(causal=True))
    assert_attends(second, decode.expected())
    plain, other = wrapper.run(*tensors)
    assert_attends(plain, prefill.expected())
    assert torch.equal(other, second[0])


def test_batches_are_planned_again_for_other_masks(device: str) -> None:
    prefill, decode, wrapper = _batch_planned(device)
    tensors = (prefill.q, prefill.cache(), decode.q, decode.cache())
    mask = torch.rand(20, 31, device=device) < 0.5
    for causal in (False, True, True, False):
        first, second = wrapper.run(*tensors, causal_p=causal, return_lse=True)
        assert_attends(first, prefill.expected(causal=causal))
        assert_attends(second, decode.expected())
    first, _ = wrapper.run(*tensors, custom_mask_p=mask.flatten())
    assert_attends(first, prefill.expected([mask]))
    first, _ = wrapper.run(*tensors)
    assert_attends(first, prefill.expected())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"custom_mask_d": torch.ones(3)}, r"'custom_mask_d' is given; plan\(\) says it"),
        ({"sm_scale_d": 0.5}, r"'sm_scale_d' is given"),
        ({"window_left_d": 3}, r"'window_left_d' is given"),
        ({"pos_encoding_mode_d": "ALIBI"}, r"'pos_encoding_mode_d' is given"),
    ],
)
def test_options_of_decoding_are_those_of_its_plan(
    options: dict[str, Any], message: str, device: str
) -> None:
    prefill, decode, wrapper = _planned(device)
    with pytest.raises(NotImplementedError, match=message):
        wrapper.run(prefill.q, *prefill.ragged(), decode.q, decode.cache(), **options)


def test_errors_name_the_arguments_of_their_batch(device: str) -> None:
    prefill, decode, wrapper = _batch_planned(device)
    with pytest.raises(ValueError, match=r"argument 'q_d' has shape"):
        wrapper.run(prefill.q, prefill.cache(), decode.q[1:], decode.cache())
    with pytest.raises(ValueError, match=r"argument 'q_p' has shape"):
        wrapper.run(prefill.q[1:], prefill.cache(), decode.q, decode.cache())
    with pytest.raises(RuntimeError, match=r"run\(\) was called before plan\(\)"):
        BatchPODWithPagedKVCacheWrapper(workspace(device)).run(
            prefill.q, prefill.cache(), decode.q, decode.cache()
        )
