"""Prefill by TensorRT-LLM's older names beside its traces: layouts, lengths of 0, and refusals."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest
import torch

from fictl.kernels.attention.trtllm_prefill.op import (
    trtllm_fmha_v2_prefill,
    trtllm_ragged_attention_deepseek,
)

from .reference import Batch, Shape, assert_attends
from .tables import ints, moved, own_tables, starts, table

SCALE = 64**-0.5
BF16, E4M3 = torch.bfloat16, torch.float8_e4m3fn
on_gpu = pytest.mark.needs_gpu  # each more is a compile of some seconds


def _memory(device: str) -> torch.Tensor:
    """Anything: nothing of this workspace needs to be zeros."""
    return torch.full((4 << 20,), 255, dtype=torch.uint8, device=device)


def _ends(lens: Any, device: str) -> torch.Tensor:
    return ints([*accumulate(lens, initial=0)], device)


def _ragged(batch: Batch, **options: Any) -> Any:
    given = {
        **dict(zip(("query", "key", "value"), (batch.q, *batch.ragged()), strict=True)),
        "is_causal": True,
        "return_lse": True,
        "enable_pdl": None,
        "window_left": -1,
        "bmm1_scale": batch.shape.dim**-0.5,
        "bmm2_scale": 1.0,
        "cum_seq_lens_kv": _ends(batch.kv_lens, batch.device),
        **options,
    }
    return trtllm_ragged_attention_deepseek(
        workspace_buffer=_memory(batch.device),
        seq_lens=ints([*batch.kv_lens], batch.device),
        max_q_len=max(batch.q_lens),
        max_kv_len=max(batch.kv_lens),
        o_sf_scale=1.0,
        batch_size=len(batch.kv_lens),
        cum_seq_lens_q=starts(batch),
        **given,
    )


@pytest.mark.parametrize("causal", [True, False])
def test_requests_without_queries_or_keys(causal: bool, device: str) -> None:
    batch = Batch([20, 0, 30, 3], [25, 9, 0, 300], Shape(64), device)
    sinks = torch.randn(4, device=device)
    words: dict[str, Any] = {"window_left": 7 if causal else -1}
    expected = batch.expected(causal=causal, sinks=sinks, **words)
    assert_attends(_ragged(batch, is_causal=causal, attention_sinks=sinks, **words), expected)
    out = torch.full_like(batch.q, 9.0)
    assert _ragged(batch, is_causal=causal, out=out, return_lse=False) is out
    assert not bool(out[20:50].any())


@pytest.mark.parametrize(
    ("dim", "dim_v", "dtype"),
    [
        pytest.param(192, 128, BF16, marks=on_gpu),
        pytest.param(128, 128, E4M3, marks=on_gpu),
    ],
)
def test_heads_of_latent_models(dim: int, dim_v: int, dtype: torch.dtype, device: str) -> None:
    shape = Shape(dim, 4, 4, dtype=dtype, dim_v=dim_v)
    batch = Batch([300, 1, 0], [700, 33, 9], shape, device)
    found = _ragged(batch, bmm2_scale=torch.full((1,), 0.5, device=device))
    wanted, sums = batch.expected(causal=True)
    assert found[0].dtype is BF16
    assert_attends(found, (wanted * 0.5, sums))


def _v2(batch: Batch, qkv: Any, layout: str, **options: Any) -> torch.Tensor:
    return trtllm_fmha_v2_prefill(
        qkv,
        layout,
        _memory(batch.device),
        ints([*batch.kv_lens], batch.device),
        max(batch.q_lens),
        max(batch.kv_lens),
        SCALE,
        1.0,
        len(batch.kv_lens),
        starts(batch),
        _ends(batch.kv_lens, batch.device),
        **options,
    )


def test_layouts_of_keys_behind_one_another(device: str) -> None:
    batch = Batch([20, 0, 30], [25, 9, 40], Shape(64), device)
    k, v = batch.ragged()
    wanted, _ = batch.expected(causal=True, window_left=12)
    for qkv, layout in (
        ((batch.q, k, v), "SEPARATE_Q_K_V"),
        ((batch.q, torch.stack((k, v), 1)), "CONTIGUOUS_Q_KV"),
    ):
        found = _v2(batch, qkv, layout, mask_mode="sliding_window", window_left=12)
        assert_attends(found, (wanted, wanted), layout)
    same = Batch([20, 0, 30], [20, 0, 30], Shape(64, 2, 2), device)
    qkv = torch.stack((same.q, *same.ragged()), 1)
    sees_all = _v2(same, qkv, "PACKED_QKV", mask_mode="padding")
    assert_attends(sees_all, same.expected())


@pytest.mark.parametrize("layout", ["NHD", "HND"])
def test_layouts_of_pages(layout: str, device: str) -> None:
    batch = Batch([20, 0, 30], [25, 9, 40], Shape(64, page_size=16, layout=layout), device)
    sinks = [torch.randn(4, device=device)]
    wanted = batch.expected(causal=True, sinks=sinks[0])
    word = f"Q_PAGED_KV_{layout}"
    words = {"block_tables": table(batch), "sinks": sinks}
    assert_attends(_v2(batch, (batch.q, batch.cache()), word, **words), wanted)
    assert_attends(_v2(batch, (batch.q, batch.caches()), word, **words), wanted)


def test_a_pair_s_table_counts_values_from_where_keys_begin(device: str) -> None:
    batch = Batch([20, 0, 30], [25, 9, 40], Shape(64, page_size=16, layout="HND"), device)
    (k, v), tables = own_tables(batch)
    both = torch.cat((k, v))  # FlashInfer: one allocation.
    k, v = both[: len(k)], both[len(k) :]
    tables[:, 1] += torch.where(tables[:, 1] < 0, 0, len(k))
    found = _v2(batch, (batch.q, (k, v)), "Q_PAGED_KV_HND", block_tables=tables)
    assert_attends(found, batch.expected(causal=True))


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"layout": "PACKED"}, ValueError, "'input_layout' is 'PACKED'; it is one of PACKED_QKV"),
        (
            {"layout": "PACKED_QKV"},
            ValueError,
            r"'qkv' is \(of shape .*; it is a tensor \(tokens, 3",
        ),
        ({"layout": "CONTIGUOUS_Q_KV"}, ValueError, r"it is a tuple of queries and \(keys, 2"),
        ({"layout": "Q_PAGED_KV_NHD"}, ValueError, "'block_tables' is None"),
        ({"mask_mode": "chunked"}, NotImplementedError, "'mask_mode' is 'chunked'; there are"),
        ({"chunked_attention_size": 8}, NotImplementedError, "takes such masks as custom_mask"),
        ({"pos_encoding_mode": "alibi"}, NotImplementedError, "ALiBi is BatchPrefillWith"),
        ({"save_softmax_stats": True}, NotImplementedError, "returns the sums as an lse"),
        (
            {"skip_softmax_threshold_scale_factor": 0.1},
            NotImplementedError,
            "softmax here is exact",
        ),
        (
            {"out": torch.zeros(6, 4, 64, dtype=BF16), "out_dtype": "float16"},
            ValueError,
            "'out' has dtype torch.bfloat16, and 'out_dtype' is float16",
        ),
    ],
)
def test_v2_refuses_in_words(
    options: dict[str, Any], kind: type[Exception], message: str, device: str
) -> None:
    batch = Batch([5, 1], [9, 3], Shape(64), device)
    qkv, layout = (batch.q, *batch.ragged()), options.pop("layout", "SEPARATE_Q_K_V")
    with pytest.raises(kind, match=message):
        _v2(batch, qkv, layout, **moved(options, device))


def test_v2_refuses_tables_of_fewer_requests(device: str) -> None:
    """Rows beyond the last would be garbage, and pages by them anywhere."""
    batch = Batch([5, 1], [9, 3], Shape(64, page_size=16, layout="HND"), device)
    qkv = (batch.q, batch.cache())
    with pytest.raises(ValueError, match=r"'block_tables' .* a row for each of 2 requests"):
        _v2(batch, qkv, "Q_PAGED_KV_HND", block_tables=table(batch)[:1])


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"backend": "cake"}, NotImplementedError, "'backend' is 'cake'; there are 'trtllm-gen'"),
        ({"sage_attn_sfs": (torch.ones(1),)}, NotImplementedError, "scales are of whole tensors"),
        ({"use_fp16_softmax": True}, NotImplementedError, "exact, and in fp32"),
        ({"query": torch.zeros(2, 3)}, ValueError, r"'query' has shape \(2, 3\)"),
        ({"window_left": 3, "bmm1_scale": torch.ones(2)}, ValueError, "'bmm1_scale' has shape"),
        ({"attention_sinks": torch.zeros(3)}, ValueError, "'attention_sinks'"),
        ({"cum_seq_lens_kv": None}, ValueError, "'cum_seq_lens_kv' is None; pass a tensor"),
        (
            {"value": torch.zeros(9, 2, 64, dtype=BF16)},
            ValueError,
            r"keys have shape \(12, 2, 64\), values \(9, 2, 64\); pass as many of both",
        ),
    ],
)
def test_ragged_refuses_in_words(
    options: dict[str, Any], kind: type[Exception], message: str, device: str
) -> None:
    with pytest.raises(kind, match=message):
        _ragged(Batch([5, 1], [9, 3], Shape(64), device), **moved(options, device))
