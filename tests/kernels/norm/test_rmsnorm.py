"""What the trace of rmsnorm cannot say: sizes at the edges, strides, heads, and refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.norm.rmsnorm import trace
from fictl.kernels.norm.rmsnorm.op import (
    fused_add_rmsnorm,
    fused_add_rmsnorm_quant,
    gemma_fused_add_rmsnorm,
    gemma_rmsnorm,
    rmsnorm,
    rmsnorm_quant,
)
from fictl.testing import assert_close

DTYPES = (torch.float16, torch.bfloat16, torch.float32)


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _reference(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    return trace.rmsnorm.reference(x.double(), weight.double(), eps)


def _added(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    exact = (tensor.double() for tensor in (x, residual, weight))
    return trace.fused_add_rmsnorm.reference(*exact, 1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hidden", [1, 2, 7, 8, 24, 111, 128, 129, 256, 264, 1000, 1032, 2056])
def test_any_hidden_size(hidden: int, dtype: torch.dtype, randn) -> None:
    x, weight = randn(3, hidden, dtype=dtype), randn(hidden, dtype=dtype)
    assert_close(rmsnorm(x, weight), _reference(x, weight))


@pytest.mark.parametrize("hidden", [4096, 4097, 4100, 16384, 16392, 32768, 32776])
def test_rows_at_and_beyond_what_a_block_holds(hidden: int, randn) -> None:
    for dtype in (torch.bfloat16, torch.float32):
        x, weight = randn(1, hidden, dtype=dtype), randn(hidden, dtype=dtype)
        assert_close(rmsnorm(x, weight), _reference(x, weight))


@pytest.mark.parametrize("hidden", [8, 64, 200, 1024])
@pytest.mark.parametrize("rows", [1, 2, 15, 16, 17, 129])
def test_any_number_of_rows(rows: int, hidden: int, randn) -> None:
    x, weight = randn(rows, hidden, dtype=torch.half), randn(hidden, dtype=torch.half)
    assert_close(rmsnorm(x, weight), _reference(x, weight))


@pytest.mark.parametrize("shape", [(0, 64), (4, 0), (0, 8, 64), (8, 0, 64)])
def test_no_elements_are_no_work(shape: tuple[int, ...], randn) -> None:
    x = randn(*shape)
    assert rmsnorm(x, randn(shape[-1])).shape == shape


@pytest.mark.parametrize("hidden", [64, 100, 1024, 5000, 20_000])
def test_out_is_returned_and_may_be_the_input(hidden: int, randn) -> None:
    x, weight = randn(2, hidden), randn(hidden)
    expected = _reference(x, weight)
    assert rmsnorm(x, weight, out=x) is x
    assert_close(x, expected)


@pytest.mark.parametrize(("rows", "hidden"), [(37, 128), (37, 1024), (300, 520)])
def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(
    rows: int, hidden: int, randn
) -> None:
    x, weight = randn(rows, hidden, dtype=torch.half), randn(hidden, dtype=torch.half)
    together = rmsnorm(x, weight)
    for row in (0, 1, rows - 1):
        assert torch.equal(rmsnorm(x[row : row + 1], weight), together[row : row + 1])


@pytest.mark.parametrize("hidden", [96, 1024, 4100])
def test_the_result_is_rounded_once(hidden: int, randn) -> None:
    x, weight = randn(2, hidden, dtype=torch.half), randn(hidden, dtype=torch.half)
    got, want = rmsnorm(x, weight).double(), _reference(x, weight)
    torch.testing.assert_close(got, want, rtol=1.01 * 2**-11, atol=2**-25)


def test_squares_beyond_the_range_of_half_are_no_problem(randn, device: str) -> None:
    x, weight = torch.full((2, 64), 6e4, device=device).half(), randn(64, dtype=torch.half)
    assert_close(rmsnorm(x, weight), _reference(x, weight))


def test_eps_is_added_under_the_root(randn) -> None:
    x, weight = 1e-3 * randn(4, 64), randn(64)
    assert_close(rmsnorm(x, weight, 0.5), _reference(x, weight, 0.5))
    assert bool((rmsnorm(torch.zeros_like(x), weight) == 0).all())


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, randn) -> None:
    space = [randn(2 * 256 + 8, dtype=torch.half) for _ in range(3)]
    for misaligned in range(3):
        starts = [offset if i == misaligned else 0 for i in range(3)]
        x, out = (space[i][starts[i] :][:512].view(2, 256) for i in (0, 1))
        weight = space[2][starts[2] :][:256]
        rmsnorm(x, weight, out=out)
        assert_close(out, _reference(x, weight))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, 0],
        lambda x: x[:, :2],
        lambda x: x[::2],
        lambda x: x[..., :40],
        lambda x: x[..., 3:20],
        lambda x: x.transpose(0, 1),
        lambda x: x[:, :2].transpose(0, 1),
        lambda x: x[:1, :1].expand(6, 1, 96),
        lambda x: x[:, :1].expand(6, 3, 96),
        lambda x: x[:1].expand(6, 4, 96),
        lambda x: x[:1, 0],
        lambda x: x[:1, :1],
    ],
    ids=[
        "rows",
        "heads",
        "tokens",
        "aligned columns",
        "columns",
        "transposed",
        "heads transposed",
        "one row",
        "one head",
        "one token",
        "a row",
        "a head",
    ],
)
def test_rows_at_any_pitch(view, randn, device: str) -> None:
    x = view(randn(6, 4, 96).bfloat16())
    weight = randn(x.shape[-1], dtype=torch.bfloat16)
    assert_close(rmsnorm(x, weight), _reference(x, weight))
    contiguous = torch.empty(x.shape, device=device, dtype=x.dtype)
    assert_close(rmsnorm(x, weight, out=contiguous), _reference(x, weight))


def test_heads_are_normalized_within_a_packed_qkv(randn) -> None:
    qkv = randn(5, 8, 64, dtype=torch.half)
    before, q, weight = qkv.clone(), qkv[:, :6], randn(64, dtype=torch.half)
    rmsnorm(q, weight, out=q)
    assert_close(q, _reference(before[:, :6], weight))
    assert torch.equal(qkv[:, 6:], before[:, 6:])


@pytest.mark.parametrize("pitch", [61, 64])
def test_a_pitched_output_leaves_its_gaps_alone(pitch: int, randn, device: str) -> None:
    x, weight = randn(8, 40), randn(40)
    whole = torch.full((8, pitch), 7.0, device=device)
    rmsnorm(x, weight, out=whole[:, :40])
    assert_close(whole[:, :40], _reference(x, weight))
    assert bool((whole[:, 40:] == 7.0).all())


@pytest.mark.parametrize("pitch", [61, 64])
def test_a_pitched_input_gives_a_dense_output(pitch: int, randn) -> None:
    x, weight = randn(8, pitch)[:, :40], randn(40)
    out = rmsnorm(x, weight)
    assert out.is_contiguous()
    assert_close(out, _reference(x, weight))


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn) -> None:
    x, weight = randn(64, 1024), randn(1024)
    with_pdl, without = x.clone(), x.clone()
    for _ in range(20):
        rmsnorm(with_pdl, weight, out=with_pdl, enable_pdl=True)
        rmsnorm(without, weight, out=without, enable_pdl=False)
    assert torch.equal(with_pdl, without)


@pytest.mark.parametrize("shape", [(8,), (2, 2, 2, 8)])
def test_other_than_two_or_three_dimensions_are_refused(shape: tuple[int, ...], randn) -> None:
    with pytest.raises(ValueError, match=r"rmsnorm: .*'input' has shape .*tokens, heads, hidden"):
        rmsnorm(randn(*shape), randn(8))


def test_a_weight_of_another_shape_or_dtype_is_refused_by_name(randn) -> None:
    x = randn(4, 8)
    with pytest.raises(ValueError, match=r"rmsnorm: .*'weight' has 9 elements, .*'input' has 8"):
        rmsnorm(x, randn(9))
    with pytest.raises(ValueError, match=r"rmsnorm: .*'weight' has shape \(1, 8\)"):
        rmsnorm(x, randn(1, 8))
    with pytest.raises(ValueError, match=r"rmsnorm: .*'weight' is not contiguous"):
        rmsnorm(x, randn(16)[::2])
    with pytest.raises(TypeError, match=r"rmsnorm: .*'weight' has dtype float16"):
        rmsnorm(x, randn(8).half())


def test_another_shape_or_dtype_of_out_is_refused_by_name(randn) -> None:
    x, weight = randn(4, 8), randn(8)
    with pytest.raises(ValueError, match=r"rmsnorm: .*'out'.*\(4, 9\)"):
        rmsnorm(x, weight, out=randn(4, 9))
    with pytest.raises(TypeError, match=r"rmsnorm: .*'out'.*float16"):
        rmsnorm(x, weight, out=randn(4, 8).half())


def test_a_last_dimension_that_is_not_contiguous_is_refused(randn) -> None:
    apart, x, weight = randn(8, 4).t(), randn(4, 8), randn(8)
    with pytest.raises(ValueError, match=r"rmsnorm: .*'input' has strides .*input.contiguous\(\)"):
        rmsnorm(apart, weight)
    with pytest.raises(ValueError, match=r"rmsnorm: .*'out' has strides .*must be contiguous"):
        rmsnorm(x, weight, out=apart)


def test_an_out_whose_rows_overlap_is_refused(randn) -> None:
    with pytest.raises(ValueError, match=r"rmsnorm: .*'out' .*strides \(0, 1\): its rows overlap"):
        rmsnorm(randn(4, 8), randn(8), out=randn(1, 8).expand(4, 8))


def test_an_unsupported_dtype_names_the_accepted_ones(randn) -> None:
    x, weight = randn(4, 8).double(), randn(8).double()
    with pytest.raises(TypeError, match=r"rmsnorm: .*'input'.*float64.*float16.*bfloat16.*float32"):
        rmsnorm(x, weight)


@pytest.mark.parametrize("hidden", [64, 111, 1024, 33_000])
def test_the_weight_of_gemma_is_how_far_a_factor_is_from_1(hidden: int, randn) -> None:
    x, weight = randn(2, hidden, dtype=torch.half), randn(hidden, dtype=torch.half)
    assert_close(gemma_rmsnorm(x, weight), _reference(x, 1 + weight.double()))
    assert gemma_rmsnorm(x, weight, out=x) is x


def test_gemma_takes_heads(randn) -> None:
    x, weight = randn(3, 4, 96, dtype=torch.half)[:, :2], randn(96, dtype=torch.half)
    assert_close(gemma_rmsnorm(x, weight), _reference(x, 1 + weight.double()))
    fused, residual = x.clone(), torch.zeros_like(x)
    gemma_fused_add_rmsnorm(fused, residual, weight)
    assert_close(fused, _reference(x, 1 + weight.double()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hidden", [1, 7, 64, 264, 520, 1032, 4097, 4100])
def test_a_residual_of_any_hidden_size(hidden: int, dtype: torch.dtype, randn) -> None:
    x, residual, weight = (randn(*rows, hidden, dtype=dtype) for rows in ((3,), (3,), ()))
    out, added = _added(x, residual, weight)
    fused_add_rmsnorm(x, residual, weight)
    assert_close(x, out)
    assert_close(residual, added)


@pytest.mark.parametrize("hidden", [16384, 16392, 32768, 32776])
def test_a_residual_at_and_beyond_what_a_block_holds(hidden: int, randn) -> None:
    x, residual, weight = (randn(*rows, hidden).bfloat16() for rows in ((1,), (1,), ()))
    out, added = _added(x, residual, weight)
    fused_add_rmsnorm(x, residual, weight)
    assert_close(x, out)
    assert_close(residual, added)


@pytest.mark.parametrize("hidden", [96, 1024, 4097])
def test_what_is_normalized_is_the_sum_before_it_is_rounded(hidden: int, randn) -> None:
    x, residual, weight = (randn(*rows, hidden).half() for rows in ((2,), (2,), ()))
    out, added = _added(x, residual, weight)
    fused_add_rmsnorm(x, residual, weight)
    for got, want in ((x, out), (residual, added)):
        torch.testing.assert_close(got.double(), want, rtol=1.01 * 2**-11, atol=2**-25)


# Of the last two, so many rows are not few.
@pytest.mark.parametrize(("rows", "hidden"), [(37, 1024), (2049, 264), (700, 2056)])
def test_a_row_with_a_residual_is_the_same_whatever_is_batched_with_it(
    rows: int, hidden: int, randn
) -> None:
    x, residual = randn(rows, hidden).half(), randn(rows, hidden).half()
    weight = randn(hidden).half()
    alone, residual_alone = x[-1:].clone(), residual[-1:].clone()
    fused_add_rmsnorm(x, residual, weight)
    fused_add_rmsnorm(alone, residual_alone, weight)
    assert torch.equal(alone, x[-1:])
    assert torch.equal(residual_alone, residual[-1:])


@pytest.mark.parametrize("view", [lambda x: x[:, 0], lambda x: x[:, :2], lambda x: x[..., 3:20]])
def test_a_residual_at_a_pitch_of_its_own_leaves_its_gaps_alone(view, randn) -> None:
    whole = randn(6, 4, 96, dtype=torch.half)
    before, residual = whole.clone(), view(whole)
    x, weight = randn(*residual.shape).half(), randn(residual.shape[-1]).half()
    out, added = _added(x, residual, weight)
    fused_add_rmsnorm(x, residual, weight)
    assert_close(x, out)
    assert_close(residual, added)
    view(before).copy_(residual)
    assert torch.equal(whole, before)


@pytest.mark.parametrize("fp8", [torch.float8_e4m3fn, torch.float8_e5m2])
@pytest.mark.parametrize("hidden", [7, 64, 1024, 4097, 33_000])
def test_both_formats_of_fp8(hidden: int, fp8: torch.dtype, randn, device: str) -> None:
    x, residual, weight = (randn(*rows, hidden).half() for rows in ((2,), (2,), ()))
    out = torch.empty(2, hidden, dtype=fp8, device=device)
    rmsnorm_quant(out, x, weight, 0.25)
    assert_close(out, _reference(x, weight) / 0.25)
    want, added = _added(x, residual, weight)
    fused_add_rmsnorm_quant(out, x, residual, weight, 0.25)
    assert_close(out, want / 0.25)
    assert_close(residual, added)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_scale_may_be_a_number_or_a_tensor_of_one(
    shape: tuple[int, ...], randn, device: str
) -> None:
    x, weight = randn(3, 8, 64).bfloat16(), randn(64).bfloat16()
    by_number, by_tensor = (
        torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=device) for _ in range(2)
    )
    rmsnorm_quant(by_number, x, weight, 0.3)
    rmsnorm_quant(by_tensor, x, weight, torch.full(shape, 0.3, device=device))
    assert torch.equal(by_number.float(), by_tensor.float())
    assert_close(by_number, _reference(x, weight) / 0.3)


@pytest.mark.parametrize(("fp8", "most"), [("float8_e4m3fn", 448.0), ("float8_e5m2", 57344.0)])
def test_fp8_saturates_and_keeps_nan(fp8: str, most: float, randn, device: str) -> None:
    x, weight = randn(2, 264), torch.ones(264, dtype=torch.half, device=device)
    x = (x.sign() + x).half()
    x[1, 5] = torch.nan
    out = torch.empty(2, 264, dtype=getattr(torch, fp8), device=device)
    rmsnorm_quant(out, x, weight, 1e-9)
    assert torch.equal(out[0].float(), x[0].float().sign() * most)
    assert bool(out[1].float().isnan().all())


def test_a_pitched_or_misaligned_fp8_output_leaves_its_gaps_alone(randn, device: str) -> None:
    x, weight = randn(3, 64).half(), randn(64).half()
    for start, pitch in ((0, 72), (4, 72), (0, 67)):
        whole = torch.zeros(3, pitch, dtype=torch.uint8, device=device)
        out = whole[:, start : start + 64].view(torch.float8_e4m3fn)
        rmsnorm_quant(out, x, weight, 1.0)
        assert_close(out, _reference(x, weight))
        whole[:, start : start + 64] = 0
        assert not whole.any()


def test_no_rows_are_no_work_for_any_of_them(randn, device: str) -> None:
    x, residual, weight = randn(0, 64).half(), randn(0, 64).half(), randn(64).half()
    out = torch.empty(0, 64, dtype=torch.float8_e4m3fn, device=device)
    fused_add_rmsnorm(x, residual, weight)
    rmsnorm_quant(out, x, weight, 1.0)
    fused_add_rmsnorm_quant(out, x, residual, weight, 1.0)


def test_another_residual_is_refused_by_name(randn) -> None:
    x, weight, name = randn(4, 8), randn(8), "gemma_fused_add_rmsnorm: .*'residual'"
    with pytest.raises(ValueError, match=rf"{name} has shape \(4, 9\)"):
        gemma_fused_add_rmsnorm(x, randn(4, 9), weight)
    with pytest.raises(TypeError, match=rf"{name} has dtype float16"):
        gemma_fused_add_rmsnorm(x, randn(4, 8).half(), weight)
    with pytest.raises(ValueError, match=rf"{name} has strides .*residual.contiguous\(\)"):
        gemma_fused_add_rmsnorm(x, randn(8, 4).t(), weight)
    with pytest.raises(ValueError, match=rf"{name} .*its rows overlap"):
        gemma_fused_add_rmsnorm(x, randn(1, 8).expand(4, 8), weight)
    with pytest.raises(ValueError, match=r"'input' .*its rows overlap"):
        gemma_fused_add_rmsnorm(randn(1, 8).expand(4, 8), x, weight)


def test_another_output_or_scale_is_refused_by_name(randn, device: str) -> None:
    x, weight = randn(4, 8).half(), randn(8).half()
    out = torch.empty(4, 8, dtype=torch.float8_e4m3fn, device=device)
    with pytest.raises(TypeError, match=r"rmsnorm_quant: .*'out' has dtype float16.*float8_e5m2"):
        rmsnorm_quant(x, x, weight, 1.0)
    with pytest.raises(ValueError, match=r"rmsnorm_quant: .*'out' has shape \(2, 8\)"):
        rmsnorm_quant(out[:2], x, weight, 1.0)
    with pytest.raises(ValueError, match=r"rmsnorm_quant: .*'scale' has shape \(2,\)"):
        rmsnorm_quant(out, x, weight, randn(2))
    with pytest.raises(TypeError, match=r"rmsnorm_quant: .*'scale' has dtype float16"):
        rmsnorm_quant(out, x, weight, randn(1).half())
    with pytest.raises(TypeError, match=r"rmsnorm_quant: .*'input'.*float32.*float16, bfloat16"):
        rmsnorm_quant(out, x.float(), weight.float(), 1.0)
