"""Queries, keys and values of fp8, with a scale for each head."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.attention._trace.reference import attention
from fictl.kernels.attention.prefill.op import (
    BatchPrefillWithPagedKVCacheWrapper,
    BatchPrefillWithRaggedKVCacheWrapper,
)
from fictl.ops import single_prefill_with_kv_cache
from fictl.testing import assert_close

from .recorded import HEADS, KV, KV_HEADS, QO, Kernel
from .recorded import workspace as small_workspace
from .reference import Sums

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
HALF, BF16 = torch.float16, torch.bfloat16
SIZES = {"heads": 4, "kv_heads": 2, "dim": 64}


def quantised(tokens: int, heads: int, dtype: torch.dtype, device: str) -> Sums:
    """Return fp8 values, and the scale of each head that makes them random numbers again."""
    x = torch.randn(tokens, heads, SIZES["dim"])
    scale = x.abs().amax((0, 2)) / torch.finfo(dtype).max
    return (x / scale[:, None]).to(dtype).to(device), scale.to(device)


def dequantised(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return x.double() * scale.double()[:, None]


def drawn(q_len: int, kv_len: int, dtype: torch.dtype, device: str) -> list[Sums]:
    """Queries, keys and values, each with its scales."""
    heads = (SIZES["heads"], SIZES["kv_heads"], SIZES["kv_heads"])
    lengths = (q_len, kv_len, kv_len)
    return [
        quantised(tokens, count, dtype, device)
        for tokens, count in zip(lengths, heads, strict=True)
    ]


@pytest.mark.parametrize("dtype", [E4M3, pytest.param(E5M2, marks=pytest.mark.needs_gpu)])
def test_scales_of_heads_apply_to_scores_and_results(dtype: torch.dtype, device: str) -> None:
    """The rows of a tile are of several heads; the weights are of fp16, or of fp8 on Hopper."""
    made = drawn(19, 70, dtype, device)
    tensors, scales = zip(*made, strict=True)
    q, k, v = tensors
    scale_q, scale_k, scale_v = scales
    out = single_prefill_with_kv_cache(q, k, v, scale_q, scale_k, scale_v, causal=True)
    assert isinstance(out, torch.Tensor)
    expected, _ = attention(*(dequantised(*each) for each in made), causal=True)
    assert out.dtype is HALF
    assert_close(out, expected, tolerances={"float16": (5e-3, 3e-3)})


def test_a_scale_may_be_one_of_all_heads(device: str) -> None:
    (q, _), (k, _), (v, _) = drawn(5, 30, E4M3, device)
    plain = single_prefill_with_kv_cache(q, k, v, sm_scale=0.01 * 0.5 * 0.25, v_scale=2.0)
    one = torch.tensor([0.25], device=device)
    scaled = single_prefill_with_kv_cache(q, k, v, 0.5, one, 2.0, sm_scale=0.01)
    torch.testing.assert_close(scaled, plain, rtol=2e-3, atol=1e-3)


@pytest.fixture
def planned(tensor_cores: Kernel, cuda_cores: Kernel) -> Any:
    made = BatchPrefillWithRaggedKVCacheWrapper(small_workspace())
    types = {"q_data_type": E4M3, "kv_data_type": E4M3, "o_data_type": "bfloat16"}
    made.plan(QO, KV, HEADS, KV_HEADS, 64, **types)
    return made


def _fp8(tokens: int, heads: int) -> torch.Tensor:
    return torch.zeros(tokens, heads, 64).to(E4M3)


def test_wrappers_take_scales_behind_the_tensors(planned: Any, tensor_cores: Kernel) -> None:
    keys = _fp8(7, KV_HEADS)
    per_head = torch.ones(HEADS, dtype=torch.float64)
    out = planned.run(_fp8(5, HEADS), keys, keys, per_head, 0.5)
    call = tensor_cores.call
    assert out.dtype is BF16
    assert call["scale_q"].dtype is torch.float32
    assert call["scale_k"].tolist() == [0.5]
    assert call["scale_v"] is None


@pytest.mark.parametrize(
    ("types", "said"),
    [
        ({"kv_data_type": BF16, "o_data_type": HALF}, "k and v of bfloat16; .* float8_e4m3fn as q"),
        ({"kv_data_type": E5M2, "o_data_type": HALF}, "k and v of float8_e5m2; .*e4m3fn as q"),
        (
            {},
            "out of float8_e4m3fn; accepted: float16 or bfloat16, which plans take as o_data_type",
        ),
    ],
)
def test_types_that_do_not_go_together_are_refused(types: dict[str, Any], said: str) -> None:
    made = BatchPrefillWithPagedKVCacheWrapper(small_workspace())
    begins = torch.tensor([0, 1], dtype=torch.int32)
    with pytest.raises(TypeError, match=f"BatchPrefillWithPagedKVCacheWrapper: {said}"):
        made.plan(begins, begins, begins[:1], begins[1:], 4, 2, 64, 1, q_data_type=E4M3, **types)


def test_scales_of_heads_are_for_fp8(device: str) -> None:
    q, k = torch.zeros(3, 4, 64, dtype=HALF), torch.zeros(3, 2, 64).to(E4M3)
    said = r"'scale_k' is given, and 'q' has dtype torch.float16; .* pass q_scale, k_scale"
    with pytest.raises(ValueError, match=f"single_prefill_with_kv_cache: .*{said}"):
        single_prefill_with_kv_cache(q, k, k, None, torch.ones(2))


def test_as_many_scales_as_heads(device: str) -> None:
    (q, _), (k, _), (v, _) = drawn(5, 30, E4M3, device)
    said = r"'scale_k' has shape \(3,\); it is \(2\), a number a head, or \(1\)"
    with pytest.raises(ValueError, match=said):
        single_prefill_with_kv_cache(q, k, v, None, torch.ones(3, device=device))
