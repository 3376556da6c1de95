"""What the traces of the block-scaled formats cannot say: edges of the formats, layouts, refusals."""

from __future__ import annotations

import itertools

import pytest
import torch

from fictl.kernels.quantization._layout import SfLayout
from fictl.kernels.quantization.block_scaled import reference, trace
from fictl.kernels.quantization.block_scaled.op import (
    block_scale_interleave,
    e2m1_and_ufp8sf_scale_to_float,
    fp4_quantize,
    mxfp4_dequantize,
    mxfp4_quantize,
    mxfp8_dequantize,
    mxfp8_quantize,
    nvfp4_quantize,
)

LAYOUTS = [*SfLayout]
DTYPES = (torch.float16, torch.bfloat16)


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


@pytest.fixture
def number(device: str):
    return lambda value: torch.tensor([value], dtype=torch.float32, device=device)


def _check(got: tuple[torch.Tensor, torch.Tensor], want: tuple[torch.Tensor, torch.Tensor]):
    for ours, theirs in zip(got, want, strict=True):
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours.view(torch.uint8).flatten(), theirs.view(torch.uint8).flatten())


def _nvfp4(x: torch.Tensor, scale: torch.Tensor, layout: int = 0):
    return reference._nvfp4(x, scale, layout)


def _mxfp8(x: torch.Tensor, layout: int = 0, alignment: int = 32):
    return trace.mxfp8_quantize.reference(x, True, alignment, layout)


def _with_every_code(device: str, dtype: torch.dtype) -> torch.Tensor:
    """All numbers that e2m1 has, all halfway between two, and those beside; the largest is 6."""
    sizes = torch.tensor([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 0])
    near = torch.stack([sizes * (1 + shift * 2.0**-7) for shift in (0, 1, -1)])
    near = torch.cat([near, -near]).clamp(-6, 6)
    near[:, 15] = 6
    return near.repeat_interleave(2, 0).reshape(6, 32).to(device, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_halfway_between_two_numbers_is_the_even_one(dtype, number, device: str) -> None:
    x = _with_every_code(device, dtype)
    codes = {0.25: 0, 0.75: 2, 1.25: 2, 1.75: 4, 2.5: 4, 3.5: 6, 5.0: 6, -0.25: 8, -5.0: 14}
    for quantized, scales in (
        mxfp4_quantize(x, sfLayout=SfLayout.layout_linear),
        nvfp4_quantize(x, number(1.0), SfLayout.layout_linear),
    ):
        assert set(scales.unique().tolist()) <= {127, 56}  # 1, as e8m0 and as e4m3
        unpacked = torch.stack([quantized & 15, quantized >> 4], -1).flatten(-2)
        for value, code in codes.items():
            assert set(unpacked[x == value].tolist()) <= {code}
        assert torch.equal(quantized, reference._e2m1(x.float()))


def test_zero_keeps_its_sign_and_makes_a_scale_of_zero(number, device: str) -> None:
    x = torch.zeros(2, 32, device=device).half()
    x[1] = -x[1]
    for quantized, scales in (
        mxfp4_quantize(x, sfLayout=SfLayout.layout_linear),
        nvfp4_quantize(x, number(2.0), SfLayout.layout_linear),
    ):
        assert quantized.tolist() == [[0] * 16, [0x88] * 16]
        assert not scales.any()
    quantized, scales = mxfp8_quantize(x, False)
    assert quantized.view(torch.uint8).tolist() == [[0] * 32, [0x80] * 32]
    assert not scales.any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_exponent(dtype, number, device: str) -> None:
    """From the smallest subnormal number on: scales underflow, and no value becomes NaN."""
    low, high = (-24, 15) if dtype == torch.half else (-133, 127)
    powers = torch.exp2(torch.arange(low, high + 1, device=device).double())
    x = (powers[:, None] * torch.linspace(-1.9, 1.9, 32, device=device)).to(dtype)
    x = x[x.isfinite().all(1)]
    _check(mxfp8_quantize(x, sf_swizzle_layout=SfLayout.layout_8x4), _mxfp8(x, 1))
    _check(mxfp4_quantize(x), reference.mxfp4_quantize(x, 0))
    for scale in (1.0, 3e-4, 5e5):
        _check(nvfp4_quantize(x, number(scale)), _nvfp4(x, number(scale)))


def test_infinity_is_the_largest_number_and_nan_spoils_its_block(number, device: str) -> None:
    x = torch.full((2, 96), 6.0, device=device).half()
    x[0, 5], x[0, 40], x[1, 70] = torch.inf, -torch.inf, torch.nan
    for values in (
        mxfp8_dequantize(*mxfp8_quantize(x)),
        mxfp4_dequantize(*mxfp4_quantize(x)),
        e2m1_and_ufp8sf_scale_to_float(*nvfp4_quantize(x, number(1.0)), number(1.0)),
    ):
        assert values[0, 5] > 100
        assert values[0, 40] < -100
        assert values[1, 64:80].isnan().all()
        assert bool((values[1, :64] == 6).all())
        assert not values[0].isnan().any()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("rows", "cols"), [(1, 32), (8, 128), (33, 96), (129, 160), (5, 8224), (2, 12_320)]
)
def test_layouts_at_their_edges(rows: int, cols: int, layout: SfLayout, randn, number) -> None:
    x, scale = randn(rows, cols), number(300.0)
    _check(mxfp8_quantize(x, sf_swizzle_layout=layout), _mxfp8(x, layout))
    _check(mxfp4_quantize(x, sfLayout=layout), reference.mxfp4_quantize(x, layout))
    x = x[:, : cols - 16] if cols > 32 else x
    _check(nvfp4_quantize(x, scale, layout), _nvfp4(x, scale, layout))


def test_scales_have_the_shapes_that_layouts_mean(randn, number) -> None:
    x = randn(3, 2, 96)
    shapes = {0: (128, 8), 1: (8, 8), 2: (6, 6)}
    for layout, shape in shapes.items():
        quantized, scales = nvfp4_quantize(x, number(1.0), SfLayout(layout))
        assert (quantized.shape, scales.shape) == ((3, 2, 48), shape)
    assert mxfp4_quantize(x)[1].shape == (128, 4)
    assert mxfp8_quantize(x)[1].shape == (128 * 4,)
    assert mxfp8_quantize(x, False)[1].shape == (6 * 3,)


def test_flags_and_layouts_say_the_same(randn, number) -> None:
    x, scale = randn(9, 64), number(100.0)
    for (swizzled, is_8x4), layout in {
        (True, False): 0,
        (True, True): 1,
        (False, False): 2,
    }.items():
        flags = {"is_sf_swizzled_layout": swizzled, "is_sf_8x4_layout": is_8x4}
        packed, scales = fp4_quantize(x, scale, **flags)
        _check((packed, scales), nvfp4_quantize(x, scale, SfLayout(layout)))
        values = e2m1_and_ufp8sf_scale_to_float(packed, scales, 1 / scale, **flags)
        assert (values - x).abs().max() < 0.6
        packed, scales = fp4_quantize(x, None, 32, sf_use_ue8m0=True, **flags)
        _check((packed, scales), mxfp4_quantize(x, sfLayout=SfLayout(layout)))
        values = mxfp4_dequantize(packed, scales, SfLayout(layout))
        of_parts = e2m1_and_ufp8sf_scale_to_float(packed, scales, None, 32, 0, **flags)
        assert torch.equal(values, of_parts)
        if not is_8x4:
            quantized, scales = mxfp8_quantize(x, swizzled)
            assert (mxfp8_dequantize(quantized, scales, swizzled) - x).abs().max() < 0.15
            of_bytes = mxfp8_dequantize(quantized.view(torch.uint8), scales, swizzled)
            assert torch.equal(of_bytes, mxfp8_dequantize(quantized, scales, swizzled))


def test_the_global_scale_may_be_one_a_row_or_inverse(randn, number, device: str) -> None:
    x = randn(5, 2, 48)
    scales = torch.linspace(50, 700, 10, device=device)
    packed, bytes_ = nvfp4_quantize(x, scales, SfLayout.layout_linear)
    for row, scale in enumerate(scales):
        want = nvfp4_quantize(x.view(10, 48)[row : row + 1], scale[None], SfLayout.layout_linear)
        _check((packed.view(10, 24)[row], bytes_[row]), want)
    inverse = number(1 / 300.0)
    got = fp4_quantize(x, inverse, is_global_scale_inversed=True)
    _check(got, nvfp4_quantize(x, 1 / inverse))
    rounded = number(300.0).bfloat16()
    _check(nvfp4_quantize(x, rounded), nvfp4_quantize(x, rounded.float()))


@pytest.mark.parametrize("cols", [48, 2080])
def test_columns_are_quantized_where_they_are_contiguous(cols: int, randn, number) -> None:
    x, scale = randn(cols, 20), number(300.0)
    packed, scales = fp4_quantize(x.t().contiguous().t(), scale)
    want, want_scales = fp4_quantize(x.t().contiguous(), scale)
    assert torch.equal(packed, want.t())
    assert torch.equal(scales, want_scales.t())
    out, out_sf = torch.empty_like(want).t(), torch.empty_like(want_scales).t()
    fp4_quantize(x.t().contiguous().t(), scale, out=out, out_sf=out_sf)
    assert torch.equal(out, packed)
    assert torch.equal(out_sf, scales)


@pytest.mark.parametrize("alignment", [32, 96, 128, 256])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_are_padded_with_zeros(alignment: int, layout: SfLayout, randn) -> None:
    x = randn(3, 160)
    got = mxfp8_quantize(x, alignment=alignment, sf_swizzle_layout=layout)
    assert got[0].shape == (3, -(-160 // alignment) * alignment)
    assert not got[0][:, 160:].view(torch.uint8).any()
    _check(got, _mxfp8(x, layout, alignment))


@pytest.mark.parametrize("pitch", [112, 97, 104])
@pytest.mark.parametrize("offset", [0, 1])
def test_rows_at_any_pitch_and_from_any_element(pitch: int, offset: int, randn, number) -> None:
    x = randn(7 * pitch + offset)[offset:].view(7, pitch)[:, :96]
    dense, scale = x.contiguous(), number(300.0)
    _check(mxfp8_quantize(x), mxfp8_quantize(dense))
    _check(mxfp4_quantize(x), mxfp4_quantize(dense))
    _check(nvfp4_quantize(x, scale), nvfp4_quantize(dense, scale))


@pytest.mark.parametrize("pitch", [64, 53])
def test_a_pitched_out_leaves_its_gaps_alone(pitch: int, randn, number, device: str) -> None:
    x, scale = randn(7, 96), number(300.0)
    whole = torch.full((7, pitch), 7, dtype=torch.uint8, device=device)
    out_sf = torch.full((128, 8), 9, dtype=torch.uint8, device=device)
    packed, scales = nvfp4_quantize(x, scale, out=whole[:, :48], out_sf=out_sf)
    assert scales is out_sf
    _check((packed, scales), nvfp4_quantize(x, scale))
    assert bool((whole[:, 48:] == 7).all())
    values = torch.full((7, 2 * pitch + 1), 7.0, device=device)
    e2m1_and_ufp8sf_scale_to_float(packed, scales, 1 / scale, out=values[:, 1:97])
    want = e2m1_and_ufp8sf_scale_to_float(packed.contiguous(), scales, 1 / scale)
    assert torch.equal(values[:, 1:97], want)
    assert bool((values[:, 97:] == 7).all())


def test_every_byte_of_a_scale(device: str, number) -> None:
    scales = torch.arange(256, device=device).to(torch.uint8)
    ones = torch.full((256, 16), 0x22, dtype=torch.uint8, device=device)  # e2m1 of 1
    values = mxfp4_dequantize(ones, scales, SfLayout.layout_linear)
    want = torch.exp2(scales.double() - 127).float()
    want[255] = torch.nan
    assert torch.equal(values[:, 7].nan_to_num(nan=-1), want.nan_to_num(nan=-1))
    of_e4m3 = e2m1_and_ufp8sf_scale_to_float(
        ones[:, :8], scales, number(0.5), is_sf_swizzled_layout=False
    )
    want = scales.view(torch.float8_e4m3fn).float() * 0.5
    assert torch.equal(of_e4m3[:, 9].nan_to_num(nan=-1), want.nan_to_num(nan=-1))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 1), (128, 4), (129, 33), (3, 40, 70)])
def test_scales_are_interleaved_matrix_by_matrix(shape, dtype, device: str) -> None:
    scales = torch.randint(0, 200, shape, device=device).to(dtype)
    tiled = block_scale_interleave(scales)
    matrices = scales if scales.ndim == 3 else scales[None]
    want = torch.stack([reference._tiled(matrix, 128) for matrix in matrices])
    assert torch.equal(tiled, want.flatten())


@pytest.mark.parametrize("shape", [(0, 64), (3, 0), (0, 2, 64)])
def test_no_elements_are_no_work(shape: tuple[int, ...], randn, number) -> None:
    x = randn(*shape)
    for layout in LAYOUTS:
        quantized, scales = nvfp4_quantize(x, number(1.0), layout)
        assert quantized.shape == (*shape[:-1], shape[-1] // 2)
        assert scales.numel() == 0
        assert mxfp4_dequantize(*mxfp4_quantize(x, sfLayout=layout), layout).shape == shape
        assert mxfp8_quantize(x, sf_swizzle_layout=layout)[0].shape == shape


def test_what_is_no_block_or_no_scale_is_refused_by_name(randn, number, device: str) -> None:
    x, scale = randn(4, 64), number(1.0)
    with pytest.raises(
        ValueError, match=r"nvfp4_quantize: argument 'a' .* not a multiple of the block size, 16"
    ):
        nvfp4_quantize(randn(4, 40), scale)
    with pytest.raises(
        ValueError,
        match=r"mxfp8_quantize: argument 'input' .* not a multiple of the block size, 32",
    ):
        mxfp8_quantize(randn(4, 48))
    with pytest.raises(ValueError, match=r"mxfp8_quantize: argument 'alignment' is 48"):
        mxfp8_quantize(x, alignment=48)
    with pytest.raises(ValueError, match=r"mxfp4_quantize: argument 'a' has shape \(64,\)"):
        mxfp4_quantize(x[0])
    with pytest.raises(TypeError, match=r"nvfp4_quantize: argument 'a' has dtype float32"):
        nvfp4_quantize(x.float(), scale)
    with pytest.raises(ValueError, match=r"fp4_quantize: argument 'global_scale' is None"):
        fp4_quantize(x)
    with pytest.raises(ValueError, match=r"nvfp4_quantize: argument 'a_global_sf' .* of 4 rows"):
        nvfp4_quantize(x, torch.ones(3, device=device))
    with pytest.raises(ValueError, match=r"fp4_quantize: argument 'sf_vec_size' is 32 without"):
        fp4_quantize(x, scale, 32)
    with pytest.raises(ValueError, match=r"mxfp4_quantize: the layout of the scales is 3"):
        mxfp4_quantize(x, sfLayout=3)


def test_another_out_is_refused_by_name(randn, number, device: str) -> None:
    x, scale = randn(4, 64), number(1.0)
    empty = torch.empty(4, 64, dtype=torch.uint8, device=device)
    with pytest.raises(ValueError, match=r"nvfp4_quantize: argument 'out' .* of 32 elements"):
        nvfp4_quantize(x, scale, out=empty)
    with pytest.raises(TypeError, match=r"mxfp8_quantize: argument 'out' has dtype uint8"):
        mxfp8_quantize(x, out=empty)
    with pytest.raises(ValueError, match=r"mxfp4_quantize: argument 'out_sf' has 256 .* take 512"):
        mxfp4_quantize(x, out_sf=empty)
    with pytest.raises(ValueError, match=r"mxfp4_dequantize: argument 'a_sf' has 256 elements"):
        mxfp4_dequantize(empty, empty)
    with pytest.raises(ValueError, match=r"block_scale_interleave: argument 'out' has 8 elements"):
        block_scale_interleave(empty, out=empty.flatten()[:8])
    with pytest.raises(ValueError, match=r"argument 'out' is not aligned to 4 bytes"):
        whole = torch.empty(128 * 64 + 1, dtype=torch.uint8, device=device)
        block_scale_interleave(empty, out=whole[1:])


def test_options_that_are_other_features_are_refused_by_name(randn, number) -> None:
    x, scale = randn(4, 64), number(1.0)
    options = {
        "do_shuffle": True,
        "sf_vec_size": 32,
        "backend": "cute-dsl",
        "per_token_activation": True,
        "out_scale": scale,
        "nvfp4_4over6": object(),
        "expanded_idx_to_permuted_idx": scale,
    }
    for name, value in options.items():
        with pytest.raises(ValueError, match=rf"nvfp4_quantize: argument '{name}' is .*accepted"):
            nvfp4_quantize(x, scale, **{name: value})


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn, number) -> None:
    x, scale = randn(64, 512), number(300.0)
    results = []
    for pdl in (True, False):
        chained = x
        for _, layout in itertools.product(range(3), LAYOUTS):
            packed, scales = nvfp4_quantize(chained, scale, layout, enable_pdl=pdl)
            values = e2m1_and_ufp8sf_scale_to_float(
                packed, scales, 1 / scale, 16, 1, layout != 2, layout == 1, enable_pdl=pdl
            )
            chained = values.bfloat16() * 0.9
        results.append(chained)
    assert torch.equal(*results)


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements() -> None:
    rows, cols = (1 << 21) + 3, 1056
    if torch.cuda.mem_get_info()[0] < rows * cols * 4:
        pytest.skip("needs more free GPU memory")
    x = torch.ones(rows, cols, device="cuda", dtype=torch.bfloat16)
    x[-1] = torch.randn(cols, device="cuda")
    packed, scales = nvfp4_quantize(x, torch.ones(1, device="cuda"), SfLayout.layout_linear)
    last = nvfp4_quantize(x[-1:], torch.ones(1, device="cuda"), SfLayout.layout_linear)
    _check((packed[-1:], scales[-1:]), last)
    assert bool((packed[:-1] == packed[0, 0]).all())
