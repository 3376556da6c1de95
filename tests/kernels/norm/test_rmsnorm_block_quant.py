"""Tests of fused_add_rmsnorm_fp8_block_quant beside its trace: bits, edges, strides, refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fictl.kernels.norm.rmsnorm_block_quant import trace
from fictl.kernels.norm.rmsnorm_block_quant.op import fused_add_rmsnorm_fp8_block_quant
from fictl.testing import assert_close

FP8 = torch.float8_e4m3fn
Randn = Callable[..., torch.Tensor]


@pytest.fixture
def randn(device: str) -> Randn:
    def make(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


class Outputs:
    """Room for the outputs, full of what they never are."""

    def __init__(self, input: torch.Tensor) -> None:
        rows, hidden = input.shape
        self.out = torch.full((rows, hidden), -3.0, device=input.device).to(FP8)
        self.scales = input.new_full((hidden // 128, -(-rows // 4) * 4), -1.0, dtype=torch.float32)
        self.normed = torch.full_like(input, -7.0)

    def compute(self, *arguments: torch.Tensor) -> Outputs:
        fused_add_rmsnorm_fp8_block_quant(self.out, self.scales, self.normed, *arguments)
        return self


def _check(input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> Outputs:
    """Computed into new tensors, and compared with the reference and with a quantization apart."""
    exact = (tensor.double() for tensor in (input, residual, weight))
    _, scales, normed, added = trace.fused_add_rmsnorm_fp8_block_quant.reference(*exact, 1e-6)
    got = Outputs(input).compute(input, residual, weight)
    assert_close(residual, added)
    assert_close(got.normed, normed)
    torch.testing.assert_close(got.scales.double(), scales, rtol=4e-3, atol=1e-7)
    rows, hidden = input.shape
    blocks = got.normed.float().view(rows, hidden // 128, 128)
    exact_scales = blocks.abs().amax(-1).clamp(min=1e-4) / 448
    torch.testing.assert_close(got.scales[:, :rows], exact_scales.t(), rtol=1e-6, atol=0.0)
    assert bool((got.scales[:, rows:] == 0).all())
    by_its_scale = blocks * (1 / got.scales[:, :rows].t()[..., None])
    in_fp8 = by_its_scale.to(FP8).float().view(rows, hidden)
    torch.testing.assert_close(got.out.float(), in_fp8, rtol=0.13, atol=2e-3)
    return got


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("hidden", [128, 384, 1152, 4096])
@pytest.mark.parametrize("rows", [1, 5])
def test_any_size(rows: int, hidden: int, dtype: torch.dtype, randn: Randn) -> None:
    given = [randn(rows, hidden, dtype=dtype) for _ in range(2)]
    _check(*given, randn(hidden, dtype=dtype))


@pytest.mark.parametrize("hidden", [16384, 16512, 32896])
def test_rows_at_and_beyond_what_a_block_holds(hidden: int, randn: Randn) -> None:
    _check(randn(1, hidden), randn(1, hidden), randn(hidden))


def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(randn: Randn) -> None:
    input, residual, weight = randn(9, 640), randn(9, 640), randn(640)
    together = _check(input, residual.clone(), weight)
    for row in (0, 4, 8):
        alone = _check(input[row : row + 1], residual[row : row + 1].clone(), weight)
        assert torch.equal(alone.out[0].float(), together.out[row].float())
        assert torch.equal(alone.scales[:, 0], together.scales[:, row])


def test_blocks_of_any_size_of_numbers(randn: Randn) -> None:
    """Zeros, less than the least scale is for, one large number, and what half cannot square."""
    weight = torch.ones_like(randn(512))
    weight[128:256] = 1e-6
    input = randn(4, 512)
    input[0] = 0.0
    input[2, 7] = 3e4
    got = _check(input, torch.zeros_like(input), weight)
    assert bool((got.out[0].float() == 0).all())
    least = torch.tensor(1e-4 / 448)
    torch.testing.assert_close(got.scales[1, :4].cpu(), least.expand(4), rtol=1e-6, atol=0.0)
    assert float(got.out[3, :128].float().abs().max()) == 448.0


def test_nan_and_infinity_stay_in_their_rows(randn: Randn) -> None:
    input, residual, weight = randn(3, 256), randn(3, 256), randn(256)
    input[0, 130] = float("nan")
    input[1, 3] = float("inf")
    got = Outputs(input).compute(input, residual, weight)
    assert bool(got.scales[:, 0].isnan().all())
    assert bool(got.out[0].float().isnan().all())
    assert bool(got.scales[0, 1].isnan())
    assert not bool(got.scales[1, 1].isnan() | got.scales[:, 2].isnan().any())


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, randn: Randn) -> None:
    spaces = [randn(3 * 256 + 8) for _ in range(4)]
    out_space = torch.zeros(3 * 256 + 8, device=spaces[0].device).to(FP8)
    expected = Outputs(spaces[0][:768].view(3, 256))
    for misaligned in range(5):
        starts = [offset if i == misaligned else 0 for i in range(5)]
        input, residual, normed = (spaces[i][starts[i] :][:768].view(3, 256) for i in range(3))
        weight, out = spaces[3][starts[3] :][:256], out_space[starts[4] :][:768].view(3, 256)
        expected.compute(input.clone(), residual.clone(), weight.clone())
        scales = torch.empty_like(expected.scales)
        fused_add_rmsnorm_fp8_block_quant(out, scales, normed, input, residual, weight)
        assert torch.equal(normed, expected.normed)
        assert torch.equal(scales, expected.scales)
        assert torch.equal(out.float(), expected.out.float())


def test_rows_at_any_pitch_leave_their_gaps_alone(randn: Randn) -> None:
    wide = [randn(5, 300) for _ in range(3)]
    input, residual, normed = (x[:, 3:259] for x in wide)
    weight, before = randn(256), [x.clone() for x in wide]
    expected = Outputs(input.contiguous()).compute(
        input.contiguous(), residual.contiguous(), weight
    )
    whole = torch.full((5, 264), 2.0, device=input.device).to(FP8)
    columns = torch.full((4, 12), -1.0, device=input.device)
    scales = columns[1:3, 2:10]
    fused_add_rmsnorm_fp8_block_quant(whole[:, :256], scales, normed, input, residual, weight)
    assert torch.equal(scales, expected.scales)
    assert torch.equal(whole[:, :256].float(), expected.out.float())
    assert bool((whole[:, 256:].float() == 2).all())
    assert bool((columns[[0, 3]] == -1).all())
    assert bool((columns[:, [0, 1, 10, 11]] == -1).all())
    for now, then in zip(wide, before, strict=True):
        assert torch.equal(now[:, :3], then[:, :3])
        assert torch.equal(now[:, 259:], then[:, 259:])


def test_without_the_norm_or_with_it_in_place(randn: Randn) -> None:
    input, residual, weight = randn(2, 256), randn(2, 256), randn(256)
    expected = _check(input, residual.clone(), weight)
    got = Outputs(input)
    fused_add_rmsnorm_fp8_block_quant(got.out, got.scales, None, input, residual.clone(), weight)
    assert torch.equal(got.out.float(), expected.out.float())
    fused_add_rmsnorm_fp8_block_quant(got.out, got.scales, input, input, residual, weight)
    assert torch.equal(input, expected.normed)
    assert torch.equal(got.scales, expected.scales)


@pytest.mark.parametrize("shape", [(0, 256), (3, 0)])
def test_no_elements_are_no_work(shape: tuple[int, int], randn: Randn) -> None:
    input = randn(*shape)
    Outputs(input).compute(input, input.clone(), randn(shape[1]))


def test_what_does_not_fit_is_refused_by_name(randn: Randn) -> None:
    x, weight = randn(3, 256), randn(256)
    right, of = Outputs(x), "fused_add_rmsnorm_fp8_block_quant: .*"

    def call(**changes: torch.Tensor) -> None:
        given = {"out": right.out, "block_scale": right.scales, "normed_out": right.normed}
        given |= {"input": x, "residual": x.clone(), "weight": weight, **changes}
        fused_add_rmsnorm_fp8_block_quant(**given)

    with pytest.raises(ValueError, match=rf"{of}'input' has rows of 192 .* not blocks of 128"):
        call(input=randn(3, 192))
    with pytest.raises(ValueError, match=rf"{of}'block_scale' has shape \(2, 3\); .*\(2, 4\)"):
        call(block_scale=right.scales[:, :3])
    with pytest.raises(ValueError, match=rf"{of}'block_scale' has shape \(4, 2\)"):
        call(block_scale=right.scales.t())
    with pytest.raises(TypeError, match=rf"{of}'out' has dtype float8_e5m2"):
        call(out=right.out.float().to(torch.float8_e5m2))
    with pytest.raises(ValueError, match=rf"{of}'normed_out' has shape \(2, 256\)"):
        call(normed_out=right.normed[:2])
    with pytest.raises(TypeError, match=rf"{of}'residual' has dtype float16"):
        call(residual=x.half())
    with pytest.raises(ValueError, match=rf"{of}'residual' .*rows overlap"):
        call(residual=x[:1].expand(3, 256))
    with pytest.raises(ValueError, match=rf"{of}'weight' has 128 elements"):
        call(weight=weight[:128])
    with pytest.raises(TypeError, match=rf"{of}'input' has dtype float32|{of}"):
        call(input=x.float(), residual=x.float(), weight=weight.float(), normed_out=x.float())


@pytest.mark.needs_gpu
@pytest.mark.parametrize(("rows", "hidden"), [(4096, 7168), (33, 16384), (7, 40960)])
def test_sizes_of_models(rows: int, hidden: int, randn: Randn) -> None:
    _check(randn(rows, hidden), randn(rows, hidden), randn(hidden))
