"""Tests of kv_fp4 beside its trace: exact bytes, ends of ranges, layouts, missing pages, refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.quantization.kv_fp4 import trace
from fictl.kernels.quantization.kv_fp4.op import (
    nvfp4_kv_dequantize,
    nvfp4_kv_dequantize_paged,
    nvfp4_kv_quantize,
)

DTYPES = [torch.float16, torch.bfloat16]
_quantized = trace.nvfp4_kv_quantize.reference


@pytest.fixture
def number(device: str):
    return lambda value: torch.tensor([value], dtype=torch.float32, device=device)


def _rows(device: str, rows: int, blocks: int) -> tuple[torch.Tensor, torch.Tensor]:
    packed = torch.randint(0, 256, (rows, 8 * blocks), device=device).to(torch.uint8)
    return packed, torch.randint(0, 127, (rows, blocks), device=device).to(torch.uint8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bytes_are_those_of_the_reference_at_any_exponent(dtype, number, device: str) -> None:
    low, high = (-24, 15) if dtype == torch.half else (-133, 127)
    powers = torch.exp2(torch.arange(low, high + 1, device=device).double())
    x = (powers[:, None] * torch.linspace(-1.9, 1.9, 48, device=device)).to(dtype)
    x = x[x.isfinite().all(1)]
    x[:, 16:32] = 0
    for scale in (1.0, 3e-4, 5e5, 2.0**-126, torch.finfo(torch.float32).max):
        got = nvfp4_kv_quantize(x, number(scale))
        for ours, want in zip(got, _quantized(x, number(scale)), strict=True):
            assert torch.equal(ours, want)


def test_infinity_is_the_largest_number_and_nan_spoils_its_block(number, device: str) -> None:
    x = torch.full((2, 48), 6.0, device=device).half()
    x[0, 5], x[0, 20], x[1, 40] = torch.inf, -torch.inf, torch.nan
    values = nvfp4_kv_dequantize(*nvfp4_kv_quantize(x, number(1.0)), number(1.0))
    assert values[0, 5] == 448 * 6
    assert values[0, 20] == -448 * 6
    assert values[1, 32:].isnan().all()
    assert bool((values[1, :32] == 6).all())
    assert not values[0].isnan().any()


@pytest.mark.parametrize("scale", [0.0, -1.0, torch.nan, torch.inf])
def test_a_global_scale_that_is_none_makes_nan(scale: float, number, device: str) -> None:
    x = torch.ones(2, 16, device=device).half()
    assert bool((nvfp4_kv_quantize(x, number(scale))[1] == 0x7F).all())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("offset", "pitch"), [(0, 40), (3, 41), (8, 48)])
def test_values_are_rounded_once_in_fp32_at_any_pitch(dtype, offset, pitch, number, device) -> None:
    whole = _rows(device, 3, pitch)[0]
    packed, scales = whole[:, offset : offset + 32], _rows(device, 3, 6)[1][:, 1:5]
    want = trace.dequantized(packed, scales, number(0.013)).to(dtype)
    got = nvfp4_kv_dequantize(packed, scales, number(0.013), dtype)
    assert torch.equal(got, want)
    whole_out = torch.full((3, 80), 7.0, device=device, dtype=dtype)
    out = whole_out[:, offset : offset + 64]
    nvfp4_kv_dequantize(packed, scales.view(torch.float8_e4m3fn), number(0.013), out=out)
    assert torch.equal(out, want)
    assert bool((whole_out[:, offset + 64 :] == 7).all())


class Cache:
    """A cache NHD of four pages, its tables, and outputs full of a number."""

    def __init__(self, device: str, heads: int = 2, dims: tuple[int, int] = (80, 80)) -> None:
        shape = 4, 4, heads
        self.parts = [_rows(device, 4 * 4 * heads, dim // 16) for dim in dims]
        self.parts = [(p.view(*shape, -1), s.view(*shape, -1)) for p, s in self.parts]
        self.tables = torch.tensor([[2, 0, 9], [3, -1, 1]], device=device)
        self.lengths = torch.tensor([9, 12], device=device)
        self.out = [torch.full((2, 10, heads, dim), 7.0, device=device).half() for dim in dims]

    def expected(self, *scales: torch.Tensor) -> list[torch.Tensor]:
        wanted = [x.clone() for x in self.out]
        there = {(0, p): (2, 0)[p // 4] for p in range(8)} | {(1, p): 3 for p in range(4)}
        there |= {(1, p): 1 for p in (8, 9)}
        for want, part, scale in zip(wanted, self.parts, scales, strict=True):
            for (request, position), page in there.items():
                packed, sf = (x[page, position % 4] for x in part)
                want[request, position] = trace.dequantized(packed, sf, scale).half()
        return wanted


@pytest.mark.parametrize("layout", ["NHD", "HND"])
@pytest.mark.parametrize("stacked", [True, False])
def test_missing_pages_and_positions_are_left_alone(layout, stacked, number, device) -> None:
    cache = Cache(device)
    want = cache.expected(number(0.01), number(0.02))
    given: list[Any] = []
    for i in (0, 1):
        both = [part[i] for part in cache.parts]
        if layout == "HND":
            both = [x.transpose(1, 2).contiguous() for x in both]
        given.append(torch.stack(both, 1) if stacked else tuple(both))
    nvfp4_kv_dequantize_paged(
        *given, cache.tables, cache.lengths, number(0.01), number(0.02), *cache.out, layout
    )
    for got, wanted in zip(cache.out, want, strict=True):
        assert torch.equal(got, wanted)


def test_heads_of_two_widths_at_any_strides(number, device: str) -> None:
    cache = Cache(device, 3, (48, 16))
    want = cache.expected(number(1.0), number(0.5))
    wide = [torch.full((10, 3, 2, 71), 7.0, device=device).half() for _ in want]
    cache.out = [
        whole[..., 1 : 1 + dim].permute(2, 0, 1, 3)
        for whole, dim in zip(wide, (48, 16), strict=True)
    ]
    packed, scales = zip(*cache.parts, strict=True)
    tables, lengths = cache.tables.int().t().contiguous().t(), cache.lengths.int()
    nvfp4_kv_dequantize_paged(packed, scales, tables, lengths, number(1.0), number(0.5), *cache.out)
    for got, wanted, whole in zip(cache.out, want, wide, strict=True):
        assert torch.equal(got, wanted)
        assert bool((whole[..., 0] == 7).all())


@pytest.mark.parametrize("shape", [(0, 32), (3, 0)])
def test_no_elements_are_no_work(shape: tuple[int, int], number, device: str) -> None:
    x = torch.zeros(shape, device=device).half()
    quantized = nvfp4_kv_quantize(x, number(1.0))
    assert nvfp4_kv_dequantize(*quantized, number(1.0)).shape == shape


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda n, x: nvfp4_kv_quantize(x[:, :24], n(1)), ValueError, r"'input' .* 24 values"),
        (lambda n, x: nvfp4_kv_quantize(x[0], n(1)), ValueError, r"'input' has shape \(32,\)"),
        (lambda n, x: nvfp4_kv_quantize(x.float(), n(1)), TypeError, "'input' has dtype float32"),
        (lambda n, x: nvfp4_kv_quantize(x, n(1).half()), TypeError, "'global_scale' has dtype"),
        (
            lambda n, x: nvfp4_kv_quantize(x, n(1), out=x.byte()),
            ValueError,
            r"'out' has shape \(2, 32\); it is \(2, 16\)",
        ),
        (
            lambda n, x: nvfp4_kv_dequantize(x.byte(), x.byte(), n(1)),
            ValueError,
            r"'block_scales' has shape \(2, 32\); it is \(2, 4\)",
        ),
        (
            lambda n, x: nvfp4_kv_dequantize(x.byte(), x.byte()[:, :4], n(1), torch.float32),
            TypeError,
            "'out' has dtype float32; accepted: float16, bfloat16",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call, error, message: str, number, device) -> None:
    with pytest.raises(error, match=rf"nvfp4_kv_\w+: argument {message}"):
        call(number, torch.zeros(2, 32, device=device).half())


def test_pages_that_do_not_fit_are_refused_by_name(number, device: str) -> None:
    cache = Cache(device)
    packed, scales = (list(x) for x in zip(*cache.parts, strict=True))
    one = number(1.0)

    def call(packed: Any, scales: Any, tables: Any, *out: Any) -> None:
        nvfp4_kv_dequantize_paged(
            tuple(packed), tuple(scales), tables, cache.lengths, one, one, *out
        )

    with pytest.raises(ValueError, match=r"'block_tables' has shape \(2, 2\); .*\(2, 3\) pages"):
        call(packed, scales, cache.tables[:, :2], *cache.out)
    with pytest.raises(TypeError, match=r"'output_v' has dtype float32, 'output_k' has float16"):
        call(packed, scales, cache.tables, cache.out[0], cache.out[1].float())
    with pytest.raises(ValueError, match=r"'output_v' has shape .*\(requests, positions, heads"):
        call(packed, scales, cache.tables, cache.out[0], cache.out[1][:, :9])
    with pytest.raises(ValueError, match=r"'kv_cache_sf' has 3 pages, 'paged_kv_cache' 4"):
        call(packed, [x[:3] for x in scales], cache.tables, *cache.out)
    with pytest.raises(ValueError, match=r"'paged_kv_cache' has 4 pages .*of keys, 3 of 4"):
        fewer = [packed[0], packed[1][:3]], [scales[0], scales[1][:3]]
        call(*fewer, cache.tables, *cache.out)
