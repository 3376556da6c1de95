"""Products with few rows: sizes, strides, repeats, and what the routers' names promise."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.gemm.router.op import (
    mm_M1_16_K7168_N128,
    mm_M1_16_K7168_N256_bf16,
    tinygemm_bf16,
)

BF16 = torch.bfloat16


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _run(input: torch.Tensor, weight: torch.Tensor, bias=None, dtype=torch.float32) -> torch.Tensor:
    out = input.new_empty((len(input), len(weight)), dtype=dtype)
    tinygemm_bf16(input, weight, out, bias)
    return out


def _close(result: torch.Tensor, input: torch.Tensor, weight: torch.Tensor, bias=None) -> None:
    expected = input.double() @ weight.double().T
    expected = expected if bias is None else expected + bias.double()
    rtol = 1.7e-2 if result.dtype == BF16 else 1e-4
    torch.testing.assert_close(result.double(), expected, rtol=rtol, atol=2e-3)


@pytest.mark.parametrize("k", [8, 24, 32, 64, 264, 1032])
def test_one_to_three_tiles_and_one_more(k: int, randn) -> None:
    for m, n in ((1, 1), (1, 16), (8, 17), (16, 33), (17, 48), (49, 5)):
        input, weight = randn(m, k), randn(n, k)
        _close(_run(input, weight), input, weight)


@pytest.mark.parametrize("dtype", [torch.float32, BF16])
def test_bias_and_dtypes_of_outputs(dtype: torch.dtype, randn) -> None:
    input, weight, bias = randn(5, 64), randn(33, 64), randn(33)
    _close(_run(input, weight, bias, dtype), input, weight, bias)


@pytest.mark.parametrize("shape", [(0, 8, 16), (3, 0, 16), (3, 8, 0)])
def test_empty_operands(shape: tuple[int, int, int], randn) -> None:
    m, n, k = shape
    input, weight = randn(m, k), randn(n, k)
    _close(_run(input, weight), input, weight)


def test_padded_rows_and_outputs(randn) -> None:
    input, weight = randn(5, 128)[:, :64], randn(20, 80)[:, 8:72]
    whole = torch.full((5, 30), 7.0, device=input.device)
    tinygemm_bf16(input, weight, whole[:, 3:23])
    _close(whole[:, 3:23], input, weight)
    whole[:, 3:23] = 7.0
    assert bool((whole == 7.0).all())


def test_other_operands_are_computed_by_dense(randn) -> None:
    """Rows of odd lengths, weights of the other order, many rows."""
    for input, weight in (
        (randn(5, 61), randn(20, 61)),
        (randn(5, 64), randn(64, 20).T),
        (randn(65, 64), randn(20, 64)),
    ):
        _close(_run(input, weight), input, weight)


def test_the_same_bits_in_every_run(randn) -> None:
    input, weight = randn(7, 1032), randn(20, 1032)
    assert torch.equal(_run(input, weight), _run(input, weight))


def test_nan_and_infinity_stay_in_their_rows(randn) -> None:
    input, weight = randn(3, 64), randn(20, 64)
    input[1, 5], weight[4, 6] = float("nan"), float("inf")
    result = _run(input, weight)
    assert result.isnan().any(-1).tolist() == [False, True, False]
    assert result[[0, 2]].isinf().any(0).nonzero().flatten().tolist() == [4]


def test_a_router_computes_its_scores(randn) -> None:
    tokens, weight = randn(3, 7168), randn(128, 7168)
    out = torch.empty(3, 128, device=tokens.device)
    assert mm_M1_16_K7168_N128(tokens, weight.T, out) is None
    torch.testing.assert_close(
        out.double(), tokens.double() @ weight.double().T, rtol=1e-4, atol=1e-2
    )


def test_refusals(randn) -> None:
    tokens, weight = randn(3, 7168), randn(256, 7168)
    out = randn(3, 256)
    with pytest.raises(ValueError, match=r"\(3, 7168\) and \(7168, 255\).*tinygemm_bf16 takes any"):
        mm_M1_16_K7168_N256_bf16(tokens, weight[:255].T, out)
    with pytest.raises(ValueError, match=r"\(17, 7168\).*up to 16 rows"):
        mm_M1_16_K7168_N256_bf16(randn(17, 7168), weight.T, out)
    with pytest.raises(TypeError, match="'out' has dtype float32; accepted: bfloat16"):
        mm_M1_16_K7168_N256_bf16(tokens, weight.T, out.float())
    with pytest.raises(TypeError, match="'weight' has dtype float32"):
        tinygemm_bf16(tokens, weight.float(), out)
    with pytest.raises(ValueError, match=r"'input' and 'weight' have shapes .*: k is 7168 .* 7160"):
        tinygemm_bf16(tokens, weight[:, :7160], out)
    with pytest.raises(ValueError, match=r"'out' has shape \(3, 256\)"):
        tinygemm_bf16(tokens[:2], weight, out)
    with pytest.raises(ValueError, match="'bias' has 3 elements"):
        tinygemm_bf16(tokens, weight, out, bias=randn(3))
    with pytest.raises(ValueError, match="shares memory with 'input'"):
        tinygemm_bf16(tokens[:, :256], weight[:, :256], tokens[:, :256])
