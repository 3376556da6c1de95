"""What the traces of fp8 quantization cannot say: other types, layouts of scales, and refusals."""

from __future__ import annotations

import math

import pytest
import torch

from fictl.kernels.quantization.fp8.op import per_tensor_quant_fp8, per_token_group_quant_8bit
from fictl.testing import assert_close

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
LARGEST = {torch.float8_e4m3fn: 448.0, torch.float8_e5m2: 57344.0, torch.int8: 127.0}


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _check_values(out: torch.Tensor, x: torch.Tensor, scales: torch.Tensor) -> None:
    """Those that x has with these scales; of int8 to half a unit, which rounding takes."""
    largest = LARGEST[out.dtype]
    exact = (x.double() / scales.double()).clamp(-largest, largest)
    if out.dtype is torch.int8:
        torch.testing.assert_close(out.double(), exact, rtol=0, atol=0.5 + 1e-4)
    else:
        assert_close(out, exact)


def _check_groups(
    result: tuple[torch.Tensor, torch.Tensor], x: torch.Tensor, size: int, ue8m0: bool = False
) -> None:
    out, scales = result
    groups = x.double().unflatten(-1, (x.shape[-1] // size, size))
    expected = groups.abs().amax(-1).clamp(min=1e-10) / LARGEST[out.dtype]
    if ue8m0:
        expected = torch.exp2(torch.ceil(torch.log2(expected)))
    assert_close(scales, expected)
    _check_values(out, x, expected.repeat_interleave(size, -1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dst", [*LARGEST])
def test_any_type_from_any_type(dtype: torch.dtype, dst: torch.dtype, randn) -> None:
    x = randn(9, 1280, dtype=dtype)
    for size in (128, 80):
        _check_groups(per_token_group_quant_8bit(x, size, dst_dtype=dst), x, size)
    if dst is not torch.int8:
        out, scale = per_tensor_quant_fp8(x, dst_dtype=dst)
        assert_close(scale, x.double().abs().amax().reshape(1) / LARGEST[dst])
        _check_values(out, x, scale)


@pytest.mark.parametrize("size", [1, 3, 4, 8, 16, 32, 48, 64, 128, 256, 512, 3072])
def test_any_group_size(size: int, randn) -> None:
    for dtype in (torch.half, torch.float32):
        x = randn(3, 3072, dtype=dtype)[:, : 3072 // size * size if size > 8 else 24 * size]
        _check_groups(per_token_group_quant_8bit(x, size), x, size)


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 17])
def test_scales_in_columns(rows: int, randn) -> None:
    x = randn(rows, 640, dtype=torch.bfloat16)
    out, scales = per_token_group_quant_8bit(x, 128, column_major_scales=True)
    assert scales.shape == (rows, 5)
    assert scales.stride() == (1, rows)
    _check_groups((out, scales), x, 128)
    aligned = per_token_group_quant_8bit(x, 128, column_major_scales=True, scale_tma_aligned=True)
    assert aligned[1].stride() == (1, -(-rows // 4) * 4)
    assert torch.equal(aligned[1], scales)
    assert torch.equal(aligned[0].view(torch.int8), out.view(torch.int8))


def test_scales_that_are_powers_of_two(randn) -> None:
    x = randn(5, 512, dtype=torch.bfloat16)
    x[1] = 0
    x[2] = 448.0  # a scale that is one already
    for columns in (False, True):
        result = per_token_group_quant_8bit(
            x, 128, 1e-10, torch.float8_e4m3fn, columns, False, True
        )
        _check_groups((result[0][2:], result[1][2:]), x[2:], 128, ue8m0=True)
        assert bool((torch.frexp(result[1]).mantissa == 0.5).all())
        assert bool((result[1][1] == 2.0**-33).all())  # that no scale is below 1e-10
        assert bool((result[0][1].float() == 0).all())


def test_more_than_two_dimensions_and_one(randn) -> None:
    for shape in ((256,), (2, 3, 256), (2, 1, 3, 256)):
        x = randn(*shape, dtype=torch.half)
        result = per_token_group_quant_8bit(x, 64)
        assert result[1].shape == (*shape[:-1], 4)
        _check_groups(result, x, 64)
        out, scale = per_tensor_quant_fp8(x)
        _check_values(out, x, scale)


@pytest.mark.parametrize("shape", [(0, 256), (4, 0)])
def test_no_elements_are_no_work(shape: tuple[int, ...], randn) -> None:
    out, scales = per_token_group_quant_8bit(randn(*shape), 64)
    assert (out.shape, scales.shape) == (shape, (shape[0], shape[1] // 64))
    out, scale = per_tensor_quant_fp8(randn(*shape))
    assert out.shape == shape
    assert_close(scale, torch.full_like(scale, 1e-10 / 448).double())


def test_rows_at_a_pitch_and_misaligned_ones(randn, device: str) -> None:
    for view in (
        lambda x: x[:, :512],
        lambda x: x[:, 1:513],
        lambda x: x.flatten()[1 : 1 + 5 * 512].view(5, 512),
    ):
        x = view(randn(5, 640, dtype=torch.bfloat16))
        _check_groups(per_token_group_quant_8bit(x, 128), x, 128)
        out = view(torch.empty(5, 640, dtype=torch.int8, device=device))
        scales = torch.empty(5, 9, device=device)[:, :4]
        result = per_token_group_quant_8bit(x, 128, out=out, scales=scales)
        assert result[0] is out
        assert result[1] is scales
        _check_groups(result, x, 128)


@pytest.mark.parametrize("n", [1, 2, 7, 4095, 4097, 20_003])
def test_any_number_of_elements_of_a_tensor(n: int, randn) -> None:
    for dtype in DTYPES:
        x = randn(n + 1, dtype=dtype)
        for given in (x[:n], x[1:]):
            out, scale = per_tensor_quant_fp8(given)
            assert_close(scale, given.double().abs().amax().reshape(1) / 448)
            _check_values(out, given, scale)
    x = randn(64, n, dtype=torch.half).t()
    out, scale = per_tensor_quant_fp8(x)
    assert out.stride() == x.stride()
    _check_values(out, x, scale)


def test_the_largest_may_be_anywhere(randn) -> None:
    x = randn(40_000, dtype=torch.half).clamp(-4, 4)
    for at in (0, 4095, 39_999):
        x[at] = -500.0
        scale = per_tensor_quant_fp8(x)[1]
        assert_close(scale, torch.full_like(scale, 500.0 / 448).double())
        x[at] = 1.0


def test_a_given_scale_is_read_and_returned(randn, device: str) -> None:
    x = randn(1000, dtype=torch.half)
    for shape in ((), (1,), (1, 1)):
        scale = torch.full(shape, 0.005, device=device)
        out, returned = per_tensor_quant_fp8(x, scale)
        assert returned is scale
        _check_values(out, x, scale.flatten())
    assert float(out.float().abs().max()) == 448.0  # beyond the range is its end
    written = torch.empty(1, device=device)
    given = torch.empty(1000, dtype=torch.float8_e5m2, device=device)
    result = per_tensor_quant_fp8(x, scale, out=given, out_scale=written)
    assert result[0] is given
    assert result[1] is written
    assert float(written) == float(scale)
    _check_values(given, x, written)


def test_nan_and_infinity_are_not_lost(randn) -> None:
    for dtype in DTYPES:
        x = randn(2, 256, dtype=dtype)
        x[0, 3], x[1, 200] = math.nan, -math.inf
        out, scales = per_token_group_quant_8bit(x, 128)
        assert scales.isnan().tolist() == [[True, False], [False, False]]
        assert scales.isinf().tolist() == [[False, False], [False, True]]
        assert bool(out[0, :128].float().isnan().all())
        assert int(out.float().isnan().sum()) == 129
        assert bool(per_tensor_quant_fp8(x)[1].isnan())


def test_what_does_not_fit_is_refused_by_name(randn, device: str) -> None:
    op, x = r"per_token_group_quant_8bit: .*", randn(4, 256)
    for size in (0, -1, 100, 512):
        with pytest.raises(ValueError, match=op + rf"'group_size' is {size}, 'x' has shape"):
            per_token_group_quant_8bit(x, size)
    with pytest.raises(ValueError, match=op + "'backend' is 'cutlass'; accepted: auto"):
        per_token_group_quant_8bit(x, 128, backend="cutlass")
    with pytest.raises(ValueError, match=op + "'scale_tma_aligned' .*column_major_scales=True"):
        per_token_group_quant_8bit(x, 128, scale_tma_aligned=True)
    with pytest.raises(ValueError, match=op + r"'x' .*x.flatten\(0, -2\)"):
        per_token_group_quant_8bit(x[None], 128, column_major_scales=True)
    with pytest.raises(TypeError, match=op + "'out' has dtype float16; accepted: float8_e4m3fn"):
        per_token_group_quant_8bit(x, 128, dst_dtype=torch.half)
    with pytest.raises(TypeError, match=op + "'x' has dtype float64; accepted: float16"):
        per_token_group_quant_8bit(x.double(), 128)
    with pytest.raises(ValueError, match=op + r"'scales' has shape \(4, 3\), 'x' has \(4, 256\)"):
        per_token_group_quant_8bit(x, 128, scales=torch.empty(4, 3, device=device))
    with pytest.raises(TypeError, match=op + "'scales' has dtype float16"):
        per_token_group_quant_8bit(x, 128, scales=torch.empty(4, 2, device=device).half())
    with pytest.raises(ValueError, match=op + r"'scales' .*strides \(6, 2\)"):
        per_token_group_quant_8bit(x, 128, scales=torch.empty(4, 6, device=device)[:, :4:2])
    with pytest.raises(ValueError, match=op + r"'x' .*x.contiguous\(\)"):
        per_token_group_quant_8bit(randn(256, 4).t(), 128)


def test_a_tensor_refuses_by_name_too(randn, device: str) -> None:
    op, x = r"per_tensor_quant_fp8: .*", randn(4, 256)
    with pytest.raises(ValueError, match=op + r"'scale' has shape \(4,\); it is one number"):
        per_tensor_quant_fp8(x, torch.ones(4, device=device))
    with pytest.raises(TypeError, match=op + "'scale' has dtype float64"):
        per_tensor_quant_fp8(x, torch.ones(1, device=device).double())
    with pytest.raises(TypeError, match=op + "'out' has dtype int8; accepted: float8_e4m3fn"):
        per_tensor_quant_fp8(x, dst_dtype=torch.int8)
    with pytest.raises(ValueError, match=op + r"arguments out, x .*\.contiguous\(\)"):
        per_tensor_quant_fp8(x[:, :200], out=torch.empty_like(x, dtype=torch.float8_e5m2)[:, :200])


def test_pdl_does_not_change_what_is_computed(randn) -> None:
    x = randn(64, 1024, dtype=torch.bfloat16)
    for _ in range(3):
        with_pdl, without = (per_tensor_quant_fp8(x, enable_pdl=on) for on in (True, False))
        assert torch.equal(with_pdl[0].view(torch.int8), without[0].view(torch.int8))
        assert torch.equal(with_pdl[1], without[1])


@pytest.mark.needs_gpu
def test_a_cuda_graph_finds_the_scale_of_what_is_there_when_it_runs(randn) -> None:
    x, later = randn(300, 1024, dtype=torch.half), 3 * randn(300, 1024, dtype=torch.half)
    out, scale = per_tensor_quant_fp8(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        per_tensor_quant_fp8(x, out=out, out_scale=scale)
    for new in (later, later / 9):
        x.copy_(new)
        graph.replay()
        torch.cuda.synchronize()
        assert_close(scale, x.double().abs().amax().reshape(1) / 448)
        _check_values(out, x, scale)


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements(randn) -> None:
    rows, hidden = (1 << 18) + 3, 8192
    if torch.cuda.mem_get_info()[0] < 4 * rows * hidden + (1 << 30):
        pytest.skip("needs more free GPU memory")
    x = torch.ones(rows, hidden, device="cuda", dtype=torch.half)
    x[-2:] = randn(2, hidden, dtype=torch.half)
    for groups in (128, 8192):
        out, scales = per_token_group_quant_8bit(x, groups)
        _check_groups((out[-3:], scales[-3:]), x[-3:], groups)
        assert bool((out[:-2].view(torch.int8) == out[0, 0].view(torch.int8)).all())
    out, scale = per_tensor_quant_fp8(x)
    assert_close(scale, x[-2:].double().abs().amax().reshape(1) / 448)
    _check_values(out[-3:], x[-3:], scale)
