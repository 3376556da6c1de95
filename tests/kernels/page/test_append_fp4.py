"""Tests of append_fp4 beside its trace: tuples, layouts, padding, strides, scales, refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.page.append_fp4.op import (
    nvfp4_quantize_append_paged_kv_cache,
    nvfp4_quantize_append_paged_kv_cache_with_slot_mapping,
    nvfp4_quantize_append_paged_mla_kv_cache,
)
from fictl.kernels.page.append_fp4.trace import quantized

PAGES, SLOTS, HEADS, DIM = 6, 4, 3, 80
# Each of five tokens, the fourth of which is padding: page and slot.
GOES = {0: (3, 3), 1: (5, 0), 2: (4, 0), 4: (0, 1)}
MAPPING = [3 * SLOTS + 3, 5 * SLOTS, 4 * SLOTS, -1, 1]


class Caches:
    """Keys and values and their scales, NHD, full of bytes that are none of the tokens'."""

    def __init__(self, device: str, dim: int = DIM) -> None:
        shape = PAGES, 2, SLOTS, HEADS
        self.packed = torch.randint(0, 256, (*shape, dim // 2), device=device).to(torch.uint8)
        self.scales = torch.randint(0, 127, (*shape, dim // 16), device=device).to(torch.uint8)

    def expected(self, *rows: torch.Tensor, scales: tuple[float, float]) -> list[torch.Tensor]:
        wanted = [self.packed.clone(), self.scales.clone()]
        for part, (x, scale) in enumerate(zip(rows, scales, strict=True)):
            for token, (page, slot) in GOES.items():
                for cache, new in zip(wanted, quantized(x[token], scale), strict=True):
                    cache[page, part, slot] = new.view(torch.uint8)
        return wanted

    def tensors(self) -> list[torch.Tensor]:
        return [self.packed, self.scales]


@pytest.fixture
def caches(device: str) -> Caches:
    return Caches(device)


@pytest.fixture
def table(device: str):
    """The five tensors that say where the tokens go, as two groups."""

    def make(dtype: torch.dtype = torch.int32) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        where = [[1, 0, 1, -1, 0], [3, 0, 8, 77, 5]]
        pages = [[5, 0, 3, 1, 4], [0, 2, 5], [2, 1]]
        as_tensor = [torch.tensor(x, device=device, dtype=dtype) for x in (*where, *pages)]
        return as_tensor[:2], as_tensor[2:]

    return make


@pytest.fixture
def rows(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.randn(*(shape or (5, HEADS, DIM)), device=device).to(dtype)

    return make


def _same(got: list[torch.Tensor], want: list[torch.Tensor]) -> None:
    for one, other in zip(got, want, strict=True):
        assert torch.equal(one, other)


def _append(table: Any, key: Any, value: Any, packed: Any, scales: Any, *of_all: Any, **how: Any):
    where, pages = table()
    nvfp4_quantize_append_paged_kv_cache(
        key, value, *where, packed, scales, *pages, *(of_all or (0.01, 0.02)), **how
    )


def _append_slots(
    key: Any, value: Any, packed: Any, scales: Any, *of_all: Any, mapping: Any = MAPPING, **how: Any
):
    if not isinstance(mapping, torch.Tensor):
        mapping = torch.tensor(mapping, device=key.device, dtype=torch.int64)
    nvfp4_quantize_append_paged_kv_cache_with_slot_mapping(
        key, value, mapping, packed, scales, *(of_all or (0.01, 0.02)), **how
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("wide", [torch.int32, torch.int64])
def test_only_the_slots_of_tokens_are_written(dtype, wide, caches, table, rows) -> None:
    key, value = rows(dtype=dtype), rows(dtype=dtype)
    want = caches.expected(key, value, scales=(0.01, 0.02))
    _append(lambda: table(wide), key, value, caches.packed, caches.scales)
    _same(caches.tensors(), want)


def test_a_mapping_says_the_same(caches, rows, device: str) -> None:
    key, value = rows(), rows()
    want = caches.expected(key, value, scales=(0.01, 0.02))
    padded = torch.cat([key, rows(2, HEADS, DIM)]), torch.cat([value, rows(3, HEADS, DIM)])
    spread = torch.tensor(MAPPING, device=device).repeat_interleave(3)[::3]
    _append_slots(*padded, caches.packed, caches.scales, mapping=spread.int())
    _same(caches.tensors(), want)
    before = [x.clone() for x in caches.tensors()]
    beyond = [PAGES * SLOTS, 2**31 - 1, -1, -(2**31), 2**32 + 3]
    _append_slots(key, value, caches.packed, caches.scales, mapping=beyond)
    _same(caches.tensors(), before)


@pytest.mark.parametrize("layout", ["NHD", "HND"])
@pytest.mark.parametrize("stacked", [True, False])
def test_layouts_and_tuples(layout: str, stacked: bool, caches, table, rows) -> None:
    key, value = rows(), rows()
    want = caches.expected(key, value, scales=(0.01, 0.02))
    given = [x.transpose(2, 3).contiguous() if layout == "HND" else x for x in caches.tensors()]
    parts: list[Any] = [x if stacked else (x[:, 0], x[:, 1]) for x in given]
    parts[1] = parts[1] if stacked else tuple(x.view(torch.float8_e4m3fn) for x in parts[1])
    _append(table, key, value, *parts, kv_layout=layout)
    _same([x.transpose(2, 3) if layout == "HND" else x for x in given], want)


@pytest.mark.parametrize("offset", [0, 1, 8])
def test_any_strides_and_alignment(offset: int, device: str, table, rows) -> None:
    qkv = rows(5, 9, 24)
    key, value = qkv[:, 2:5, offset : offset + 16], qkv[:, 3:9:2, offset : offset + 16]
    whole = Caches(device, 64)
    packed, scales = whole.packed[..., offset : offset + 8], whole.scales[..., 1:2]
    before = [x.clone() for x in whole.tensors()]
    small = Caches(device, 16)
    small.packed, small.scales = packed, scales
    want = small.expected(key, value, scales=(0.01, 0.02))
    _append(table, key, value, (packed[:, 0], packed[:, 1]), scales)
    _same([packed, scales], want)
    assert torch.equal(whole.scales[..., 2:], before[1][..., 2:])
    assert torch.equal(whole.packed[..., offset + 8 :], before[0][..., offset + 8 :])


def test_scales_of_blocks_at_the_ends_of_their_range(caches, table, rows) -> None:
    """Zeros of both signs, subnormal and vanishing scales, more than 448, infinity, NaN."""
    x = rows(5, HEADS, DIM, dtype=torch.float32)
    for token, size in enumerate((0.0, 2.0**-9, 6e-8, 1e30, 1.0)):
        x[token] *= size
    x[0, :, ::2] = -0.0
    x[4, 0, 3], x[4, 1, 20] = torch.inf, -torch.inf
    key = x.bfloat16()
    value = key.clone()
    value[2, 2, 17] = torch.nan
    want = caches.expected(key, value, scales=(0.01, 1e-3))
    want[1][GOES[2][0], 1, GOES[2][1], 2, 1] = 0x7F
    _append(table, key, value, caches.packed, caches.scales, 0.01, 1e-3)
    assert torch.equal(caches.scales, want[1])
    spoilt = (want[1] == 0x7F).repeat_interleave(8, -1)
    assert torch.equal(caches.packed[~spoilt], want[0][~spoilt])


def test_global_scales_are_numbers_or_tensors(caches, table, rows, device: str) -> None:
    key, value = rows(), rows()
    want = caches.expected(key, value, scales=(0.25, 3e-3))
    scales = torch.tensor([0.25], device=device), torch.tensor(3e-3, device=device)
    other = Caches(device)
    other.packed, other.scales = (x.clone() for x in caches.tensors())
    _append(table, key, value, caches.packed, caches.scales, *scales)
    _append_slots(key, value, other.packed, other.scales, scales[0], 3e-3)
    _same(caches.tensors(), want)
    _same(other.tensors(), want)


@pytest.mark.parametrize("scale", [0.0, -1.0, torch.nan, torch.inf])
def test_a_global_scale_that_is_none_makes_nan(scale: float, caches, rows, device: str) -> None:
    of_all = torch.full((1,), scale, device=device)
    _append_slots(rows(), rows(), caches.packed, caches.scales, of_all, 1.0)
    page, slot = GOES[0]
    assert bool((caches.scales[page, 0, slot] == 0x7F).all())
    assert not bool((caches.scales[page, 1, slot] == 0x7F).any())


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 1e39, 1e-45])
def test_a_number_that_is_no_scale_is_refused(scale: float, caches, table, rows) -> None:
    for name, call in {
        "nvfp4_quantize_append_paged_kv_cache": lambda *x: _append(table, *x),
        "nvfp4_quantize_append_paged_kv_cache_with_slot_mapping": _append_slots,
    }.items():
        with pytest.raises(ValueError, match=rf"{name}: argument 'v_scale' is .*positive number"):
            call(rows(), rows(), caches.packed, caches.scales, 1.0, scale)


@pytest.mark.parametrize("stacked", [True, False])
def test_latent_vectors_and_rotated_keys(stacked: bool, table, rows, device: str) -> None:
    ckv, kpe = rows(5, 48), rows(5, 16)
    kpe[1, 3], kpe[2, 4], kpe[4, 0] = torch.nan, 1e30, -torch.inf
    shape = PAGES, SLOTS
    whole = torch.randint(0, 120, (*shape, 24 + 3 + 16), device=device).to(torch.uint8)
    parts = [whole[..., :24], whole[..., 24:27], whole[..., 27:]]
    if not stacked:
        parts = [x.contiguous() for x in parts]
    want = [x.clone() for x in parts]
    rotated = (kpe.float() / 0.5).clamp(-448, 448).to(torch.float8_e4m3fn).view(torch.uint8)
    for token, (page, slot) in GOES.items():
        packed, scales = quantized(ckv[token], 0.01)
        new = packed, scales.view(torch.uint8), rotated[token]
        for cache, row in zip(want, new, strict=True):
            cache[page, slot] = row
    where, pages = table()
    fp8 = [x.view(torch.float8_e4m3fn) for x in parts[1:]]
    nvfp4_quantize_append_paged_mla_kv_cache(
        ckv, kpe, *where, parts[0], *fp8, *pages, 0.01, torch.tensor(0.5, device=device)
    )
    _same(parts, want)


@pytest.mark.parametrize("shape", [(0, HEADS, DIM), (5, 0, DIM), (5, HEADS, 0)])
def test_no_elements_are_no_work(shape: tuple[int, int, int], device: str) -> None:
    x = torch.zeros(shape, device=device).half()
    packed = torch.zeros(2, 2, 4, shape[1], shape[2] // 2, device=device).byte()
    scales = torch.zeros(2, 2, 4, shape[1], shape[2] // 16, device=device).byte()
    _append_slots(x, x, packed, scales, mapping=list(range(shape[0])))


def test_pdl_does_not_change_what_is_written(caches, table, rows) -> None:
    key, value = rows(), rows()
    want = caches.expected(key, value, scales=(0.01, 0.02))
    _append(table, key, value, caches.packed, caches.scales, enable_pdl=False)
    _same(caches.tensors(), want)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": (5, 3)}, r"'append_key' has shape \(5, 3\); it is \(tokens, heads, dim\)"),
        ({"value": (4, 3, 80)}, r"'append_value' has shape .*; there are 5 tokens"),
        ({"key": (5, 3, 72), "value": (5, 3, 72)}, r"heads of 72 values; dim is a multiple of 16"),
        ({"key": (5, 2, 80)}, r"'paged_kv_cache' .*4 slots of 3 x 40; expected 4 slots of 2 x 40"),
        ({"scales": (6, 2, 4, 3, 4)}, r"'kv_cache_sf' .*3 x 4; expected 4 slots of 3 x 5"),
        ({"scales": (5, 2, 4, 3, 5)}, r"'kv_cache_sf' has 5 pages, 'paged_kv_cache' 6"),
        ({"kv_layout": "NDH"}, r"'kv_layout' is 'NDH'; it is 'NHD' or 'HND'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, message: str, table, device: str) -> None:
    shapes = {
        "key": (5, 3, 80),
        "value": (5, 3, 80),
        "packed": (6, 2, 4, 3, 40),
        "scales": (6, 2, 4, 3, 5),
    }
    how = {"kv_layout": change.pop("kv_layout")} if "kv_layout" in change else {}
    given = {
        name: torch.zeros(shape, device=device).to(
            torch.uint8 if name in ("packed", "scales") else torch.half
        )
        for name, shape in (shapes | change).items()
    }
    with pytest.raises(ValueError, match=rf"append_paged_kv_cache: argument .*{message}"):
        _append(table, *given.values(), **how)


def test_values_of_fewer_pages_are_refused(table, rows, device: str) -> None:
    """The table is of both: what is beyond the end of the values would be overwritten."""
    key = rows()
    packed, scales = (
        tuple(
            torch.zeros(pages, SLOTS, HEADS, DIM // n, dtype=torch.uint8, device=device)
            for pages in (PAGES, 2)
        )
        for n in (2, 16)
    )
    with pytest.raises(ValueError, match=rf"has {PAGES} pages of keys, 2 of values"):
        _append(table, key, key, packed, scales)
    with pytest.raises(ValueError, match=rf"has {PAGES} pages of keys, 2 of values"):
        _append_slots(key, key, packed, scales, mapping=[0] * 5)
    where, pages = table()
    ckv = [torch.zeros(PAGES, SLOTS, n, dtype=torch.uint8, device=device) for n in (24, 3)]
    kpe = torch.zeros(2, SLOTS, 16, dtype=torch.uint8, device=device)
    with pytest.raises(ValueError, match=rf"'kpe_cache' has 2 pages, 'ckv_cache' {PAGES}"):
        nvfp4_quantize_append_paged_mla_kv_cache(
            rows(5, 48), rows(5, 16), *where, *ckv, kpe, *pages, 1.0, 1.0
        )


def test_other_dtypes_are_refused_by_name(caches, table, rows) -> None:
    key = rows()
    with pytest.raises(TypeError, match=r"'append_value' has dtype float16, 'append_key' has"):
        _append(table, key, key.half(), caches.packed, caches.scales)
    with pytest.raises(TypeError, match=r"'append_key' has dtype float32; accepted: float16"):
        _append(table, key.float(), key.float(), caches.packed, caches.scales)
    with pytest.raises(TypeError, match=r"'paged_kv_cache' has dtype int8; accepted: uint8"):
        _append(table, key, key, caches.packed.view(torch.int8), caches.scales)
    with pytest.raises(TypeError, match=r"'kv_cache_sf' has dtype float8_e5m2; accepted"):
        _append(table, key, key, caches.packed, caches.scales.view(torch.float8_e5m2))
    with pytest.raises(TypeError, match=r"'k_scale' has dtype float64; accepted: float32"):
        of_all = key.new_ones(1, dtype=torch.float64)
        _append(table, key, key, caches.packed, caches.scales, of_all, 1.0)
    with pytest.raises(ValueError, match=r"'slot_mapping' is of 9 tokens"):
        _append_slots(key, key, caches.packed, caches.scales, mapping=[0] * 9)
    with pytest.raises(ValueError, match=r"'slot_mapping' has dtype float32; accepted: int32"):
        _append_slots(key, key, caches.packed, caches.scales, mapping=key.new_zeros(5).float())
