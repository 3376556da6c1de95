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
from .reference import Batch, Shape, Sums, workspace

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
HALF, BF16 = torch.float16, torch.bfloat16
HEADS_OF = (6, 2, 2)


def quantised(tokens: int, heads: int, dtype: torch.dtype, device: str, dim: int) -> Sums:
    """Return fp8 values, and the scale of each head that makes them random numbers again."""
    x = torch.randn(tokens, heads, dim)
    scale = x.abs().amax((0, 2)) / torch.finfo(dtype).max
    return (x / scale[:, None]).to(dtype).to(device), scale.to(device)


def dequantised(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return x.double() * scale.double()[:, None]


def drawn(q_len: int, kv_len: int, dtype: torch.dtype, device: str, dim: int = 64) -> list[Sums]:
    """Queries, keys and values, each with its scales."""
    lengths = (q_len, kv_len, kv_len)
    return [
        quantised(tokens, heads, dtype, device, dim)
        for tokens, heads in zip(lengths, HEADS_OF, strict=True)
    ]


# Weights of fp8 have 3 bits; those of fp16 are as good as the others' results.
TOLERANCE = {"fa2": (5e-3, 3e-3), "fa3": (4e-2, 4e-2)}
GPU = pytest.mark.needs_gpu


@pytest.mark.parametrize(
    ("backend", "dtype", "dim"),
    [
        ("fa2", E4M3, 64),
        ("fa3", E4M3, 64),
        ("fa2", E4M3, 80),  # columns are padded
        pytest.param("fa2", E5M2, 128, marks=GPU),
        pytest.param("fa3", E5M2, 64, marks=GPU),
        pytest.param("fa3", E4M3, 128, marks=GPU),
        pytest.param("fa3", E5M2, 128, marks=GPU),
    ],
)
@pytest.mark.parametrize("causal", [True, False])
def test_scales_of_heads_apply_to_scores_and_results(
    causal: bool, backend: str, dtype: torch.dtype, dim: int, device: str
) -> None:
    """The rows of a tile are of several heads."""
    if device == "cuda" and backend == "fa3" and torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("Hopper's kernels run there and on the emulated device")
    made = drawn(75, 290, dtype, device, dim)
    q, k, v = (each[0] for each in made)
    scale_q, scale_k, scale_v = (each[1] for each in made)
    found = single_prefill_with_kv_cache(
        q, k, v, scale_q, scale_k, scale_v, causal=causal, backend=backend, return_lse=True
    )
    expected, expected_lse = attention(*(dequantised(*each) for each in made), causal=causal)
    out, lse = found
    assert out.dtype is HALF
    assert_close(out, expected, tolerances={"float16": TOLERANCE[backend]})
    assert_close(lse, expected_lse, "lse", {"float32": (1e-4, 4e-3)})


@pytest.mark.parametrize("backend", ["fa2", "fa3"])
def test_fp8_in_pages(backend: str, device: str) -> None:
    """Any lengths and pages, parts of split keys, and NaN where nothing may be read."""
    if device == "cuda" and backend == "fa3" and torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("Hopper's kernels run there and on the emulated device")
    shape = Shape(64, 4, 2, dtype=E4M3, page_size=5)
    batch = Batch([70, 0, 3, 40], [300, 2, 3, 129], shape, device)
    made = BatchPrefillWithPagedKVCacheWrapper(workspace(device), backend=backend)
    sizes = (shape.heads, shape.kv_heads, shape.dim, shape.page_size)
    types = {"q_data_type": E4M3, "kv_data_type": E4M3, "o_data_type": BF16}
    table = batch.page_table()
    made.plan(batch.qo_indptr, *table, *sizes, causal=True, fixed_split_size=30, **types)
    found = made.run(batch.q, batch.cache(), 0.5, None, 3.0, return_lse=True)
    out, lse = batch.expected(causal=True, sm_scale=0.5 * shape.dim**-0.5)
    assert_close(found[0], 3.0 * out, tolerances={"bfloat16": (5e-2, 0.15)})
    assert_close(found[1], lse, "lse", {"float32": (1e-4, 4e-3)})


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
