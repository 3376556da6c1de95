"""What the trace of fused_rmsnorm_silu cannot say: fp8, NVFP4, sizes at the edges, refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.norm.rmsnorm_silu.op import fused_rmsnorm_silu
from fictl.kernels.norm.rmsnorm_silu.trace import fused_rmsnorm_silu as trace
from fictl.testing import assert_close

DTYPES = (torch.float16, torch.bfloat16)
E4M3 = torch.float8_e4m3fn
NUMBERS = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


@pytest.fixture
def empty(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.empty(shape, device=device, dtype=dtype)

    return make


def _reference(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    return trace.reference(x.double(), weight.double(), eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hidden", [1, 7, 8, 64, 160, 161, 320, 512, 520, 640, 1024, 1032])
def test_any_hidden_size(hidden: int, dtype: torch.dtype, randn) -> None:
    x, weight = randn(3, hidden, dtype=dtype), randn(hidden, dtype=dtype)
    assert_close(fused_rmsnorm_silu(x, weight), _reference(x, weight))


@pytest.mark.parametrize("hidden", [4096, 32768, 32784])
def test_rows_at_and_beyond_what_a_block_holds(hidden: int, randn, empty) -> None:
    x, weight = randn(1, hidden), randn(hidden)
    expected = _reference(x, weight)
    assert_close(fused_rmsnorm_silu(x, weight), expected)
    assert_close(fused_rmsnorm_silu(x, weight, out=empty(1, hidden, dtype=E4M3)), expected)
    out = empty(1, hidden // 2, dtype=torch.uint8)
    _check_blocks(*fused_rmsnorm_silu(x, weight, out=out), expected)


@pytest.mark.parametrize("hidden", [8, 600, 1500])
@pytest.mark.parametrize("rows", [1, 15, 17])
def test_any_number_of_rows(rows: int, hidden: int, randn) -> None:
    x, weight = randn(rows, hidden), randn(hidden)
    assert_close(fused_rmsnorm_silu(x, weight), _reference(x, weight))


@pytest.mark.parametrize("shape", [(0, 64), (4, 0)])
def test_no_elements_are_no_work(shape: tuple[int, int], randn, empty) -> None:
    x, weight = randn(*shape), randn(shape[1])
    assert fused_rmsnorm_silu(x, weight).shape == shape
    out = empty(shape[0], shape[1] // 2, dtype=torch.uint8)
    _, scales = fused_rmsnorm_silu(x, weight, out=out)
    assert scales.shape == (shape[0], shape[1] // 16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hidden", [5, 160, 1040])
def test_fp8_is_rounded_once_from_fp32(hidden: int, dtype: torch.dtype, randn, empty) -> None:
    x, weight = randn(3, hidden, dtype=dtype), 40 * randn(hidden, dtype=dtype)
    out = empty(3, hidden, dtype=E4M3)
    assert fused_rmsnorm_silu(x, weight, out=out) is out
    assert_close(out, _reference(x, weight))


def _numbers(packed: torch.Tensor) -> torch.Tensor:
    """Of bytes of e2m1, the first in the low half."""
    codes = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2).long().cpu()
    return NUMBERS[codes & 7] * torch.where(codes < 8, 1.0, -1.0)


def _check_blocks(packed: torch.Tensor, scales: torch.Tensor, expected: torch.Tensor) -> None:
    """Scales are a sixth of a block's largest, and values as near as e2m1 comes to them."""
    want = expected.cpu().unflatten(-1, (-1, 16))
    assert_close(scales.cpu(), want.abs().amax(-1) / 6)
    scale = scales.cpu().double().unsqueeze(-1)
    error = (_numbers(packed).unflatten(-1, (-1, 16)) * scale - want).abs()
    signed = torch.cat([NUMBERS, -NUMBERS])
    least = (signed * scale.unsqueeze(-1) - want.unsqueeze(-1)).abs().amin(-1)
    assert bool((error <= least + 1e-5 * (1 + want.abs())).all())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hidden", [16, 64, 160, 528, 1040])
def test_blocks_of_e2m1_with_their_scales(hidden: int, dtype: torch.dtype, randn, empty) -> None:
    x, weight = randn(5, hidden, dtype=dtype), 8 * randn(hidden, dtype=dtype)
    out, scales = empty(5, hidden // 2, dtype=torch.uint8), empty(5, hidden // 16, dtype=E4M3)
    got = fused_rmsnorm_silu(x, weight, out=out, block_scale=scales)
    assert got[0] is out
    assert got[1] is scales
    _check_blocks(out, scales, _reference(x, weight))


def test_a_block_too_small_for_any_scale_is_zero_and_one_with_nan_is_nan(randn, empty) -> None:
    x, weight = randn(2, 32), 1e-6 * randn(32)
    x[1, 3] = float("nan")
    packed, scales = fused_rmsnorm_silu(x, weight, out=empty(2, 16, dtype=torch.uint8))
    assert bool((scales[0].float() == 0).all())
    assert bool(((packed[0] & 0x77) == 0).all())
    assert bool(scales[1].float().isnan().all())


def test_scales_and_numbers_beyond_their_range_are_its_ends(randn, empty) -> None:
    x, weight = randn(2, 64).abs() + 1, (1e6 + 0 * randn(64)).bfloat16()
    packed, scales = fused_rmsnorm_silu(x, weight, out=empty(2, 32, dtype=torch.uint8))
    assert bool((scales.float() == 448).all())
    assert bool((packed == 0x77).all())


def test_the_type_of_two_numbers_a_byte_is_taken_as_well(randn, empty) -> None:
    x, weight = randn(3, 64), randn(64)
    packed, scales = fused_rmsnorm_silu(x, weight, out=empty(3, 32, dtype=torch.uint8))
    typed = empty(3, 32, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    got, again = fused_rmsnorm_silu(x, weight, out=typed)
    assert got is typed
    assert torch.equal(typed.view(torch.uint8), packed)
    assert torch.equal(again.view(torch.uint8), scales.view(torch.uint8))


@pytest.mark.parametrize("hidden", [64, 99, 5000])
def test_out_is_returned_and_may_be_the_input(hidden: int, randn) -> None:
    x, weight = randn(2, hidden), randn(hidden)
    expected = _reference(x, weight)
    assert fused_rmsnorm_silu(x, weight, out=x) is x
    assert_close(x, expected)


@pytest.mark.parametrize("hidden", [128, 520, 1032, 4096])
def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(hidden: int, randn) -> None:
    rows = (1 << 19) // hidden + 1  # so many that a thread holds more of one
    x, weight = randn(rows, hidden), randn(hidden)
    together = fused_rmsnorm_silu(x, weight)
    for some in (slice(0, 2), slice(rows - 1, rows)):
        assert torch.equal(fused_rmsnorm_silu(x[some], weight), together[some])
        assert_close(together[some], _reference(x[some], weight))


def test_eps_is_added_under_the_root(randn) -> None:
    x, weight = (1e-3 * randn(4, 64)).bfloat16(), randn(64)
    assert_close(fused_rmsnorm_silu(x, weight, 0.5), _reference(x, weight, 0.5))


def test_any_of_the_tensors_may_be_misaligned(randn) -> None:
    for misaligned in range(3):
        x, out, weight = (randn(521)[1 if i == misaligned else 0 :] for i in range(3))
        rows, result = x[:512].view(2, 256), out[:512].view(2, 256)
        fused_rmsnorm_silu(rows, weight[:256], out=result)
        assert_close(result, _reference(rows, weight[:256]))


@pytest.mark.parametrize("start", [0, 8, 3])
def test_rows_at_any_pitch(start: int, randn, empty) -> None:
    x, weight = randn(6, 96)[::2, start : start + 48], randn(48)
    assert_close(fused_rmsnorm_silu(x, weight), _reference(x, weight))
    whole = empty(3, 61).fill_(7)
    fused_rmsnorm_silu(x, weight, out=whole[:, :48])
    assert_close(whole[:, :48], _reference(x, weight))
    assert bool((whole[:, 48:] == 7).all())


def test_rows_of_e2m1_at_a_pitch_leave_gaps_alone(randn, empty) -> None:
    x, weight = randn(6, 96)[::2, 16:64], randn(48)
    out, scales = empty(3, 40, dtype=torch.uint8).fill_(7), empty(3, 5, dtype=E4M3).fill_(7)
    fused_rmsnorm_silu(x, weight, out=out[:, :24], block_scale=scales[:, :3])
    _check_blocks(out[:, :24], scales[:, :3], _reference(x, weight))
    assert bool((out[:, 24:] == 7).all())
    assert bool((scales[:, 3:].float() == 7).all())


def test_rows_of_e2m1_that_are_not_aligned_are_refused_in_words(randn, empty) -> None:
    out = empty(3, 16, dtype=torch.uint8)
    with pytest.raises(ValueError, match=r"fused_rmsnorm_silu: .*aligned to 16 bytes.*\.clone\(\)"):
        fused_rmsnorm_silu(randn(3, 48)[:, 1:33], randn(32), out=out)


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn) -> None:
    x, weight = randn(16, 1024), randn(1024)
    with_pdl, without = x.clone(), x.clone()
    for _ in range(10):
        fused_rmsnorm_silu(with_pdl, weight, out=with_pdl, enable_pdl=True)
        fused_rmsnorm_silu(without, weight, out=without, enable_pdl=False)
    assert torch.equal(with_pdl, without)


def test_a_weight_of_another_shape_or_dtype_is_refused_by_name(randn) -> None:
    x, op = randn(4, 8), "fused_rmsnorm_silu"
    with pytest.raises(ValueError, match=rf"{op}: .*'weight' has 9 elements, .*'input' has 8"):
        fused_rmsnorm_silu(x, randn(9))
    with pytest.raises(ValueError, match=rf"{op}: .*'weight' has shape \(1, 8\)"):
        fused_rmsnorm_silu(x, randn(1, 8))
    with pytest.raises(TypeError, match=rf"{op}: .*'weight' has dtype float16"):
        fused_rmsnorm_silu(x, randn(8).half())
    with pytest.raises(TypeError, match=rf"{op}: .*'input' has dtype float32; .*bfloat16"):
        fused_rmsnorm_silu(x.float(), randn(8).float())


def test_another_out_is_refused_by_name(randn, empty) -> None:
    x, weight, op = randn(4, 16), randn(16), "fused_rmsnorm_silu"
    with pytest.raises(ValueError, match=rf"{op}: .*'out'.*\(4, 9\)"):
        fused_rmsnorm_silu(x, weight, out=randn(4, 9))
    with pytest.raises(TypeError, match=rf"{op}: .*'out'.*float8_e5m2; .*bfloat16, float8_e4m3fn"):
        fused_rmsnorm_silu(x, weight, out=empty(4, 16, dtype=torch.float8_e5m2))
    with pytest.raises(ValueError, match=rf"{op}: .*'out' has shape \(4, 16\).* every 2 elements"):
        fused_rmsnorm_silu(x, weight, out=empty(4, 16, dtype=torch.uint8))
    packed = empty(4, 8, dtype=torch.uint8)
    with pytest.raises(ValueError, match=rf"{op}: .*'block_scale'.* every 16 elements"):
        fused_rmsnorm_silu(x, weight, out=packed, block_scale=empty(4, 2, dtype=E4M3))
    with pytest.raises(TypeError, match=rf"{op}: .*'block_scale' has dtype uint8"):
        fused_rmsnorm_silu(x, weight, out=packed, block_scale=empty(4, 1, dtype=torch.uint8))
    with pytest.raises(ValueError, match=rf"{op}: .*'input' has shape \(4, 8\).*multiple of 16"):
        fused_rmsnorm_silu(x[:, :8], weight[:8], out=packed[:, :4])
