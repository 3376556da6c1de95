"""What the traces of append cannot say: tuples of caches, layouts, padding, strides, refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.page.append.op import append_paged_kv_cache, append_paged_mla_kv_cache

DTYPES = (torch.bfloat16, torch.float32, torch.float8_e5m2, torch.uint8, torch.int64)


class Batch:
    """Some tokens of two requests, and the five tensors that say where each goes."""

    tokens = 5
    page_size = 4
    pages = 6

    def __init__(self, device: str, dtype: torch.dtype = torch.int32) -> None:
        def tensor(values: list[int]) -> torch.Tensor:
            return torch.tensor(values, device=device, dtype=dtype)

        self.where = {
            "batch_indices": tensor([1, 0, 1, -1, 0]),
            "positions": tensor([3, 0, 8, 77, 5]),
        }
        self.table = {
            "kv_indices": tensor([5, 0, 3, 1, 4]),
            "kv_indptr": tensor([0, 2, 5]),
            "kv_last_page_len": tensor([2, 1]),
        }
        # (token, page, slot); the fourth is padding.
        self.goes = [(0, 3, 3), (1, 5, 0), (2, 4, 0), (4, 0, 1)]

    def written(self, cache: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """A copy of a cache, pages and slots first, with the rows of the tokens."""
        expected = cache.clone()
        for token, page, slot in self.goes:
            expected[page, slot] = rows[token]
        return expected


@pytest.fixture
def batch(device: str) -> Batch:
    return Batch(device)


@pytest.fixture
def rand(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
        return torch.randint(0, 100, shape, device=device).to(dtype)

    return make


def _same(got: torch.Tensor, want: torch.Tensor) -> bool:
    return torch.equal(got.float(), want.float())


def _append(batch: Batch, key: torch.Tensor, value: torch.Tensor, cache: Any, **how: Any) -> None:
    append_paged_kv_cache(key, value, *batch.where.values(), cache, *batch.table.values(), **how)


def _append_mla(batch: Batch, ckv: torch.Tensor, kpe: torch.Tensor, *caches: Any) -> None:
    append_paged_mla_kv_cache(ckv, kpe, *batch.where.values(), *caches, *batch.table.values())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [1, 6, 8, 128])
def test_keys_and_values_go_to_their_slots(dim: int, dtype: torch.dtype, batch, rand) -> None:
    key, value = rand(5, 3, dim, dtype=dtype), rand(5, 3, dim, dtype=dtype)
    cache = rand(6, 2, 4, 3, dim, dtype=dtype)
    keys, values = batch.written(cache[:, 0], key), batch.written(cache[:, 1], value)
    _append(batch, key, value, cache)
    assert _same(cache[:, 0], keys)
    assert _same(cache[:, 1], values)


@pytest.mark.parametrize("layout", ["NHD", "HND"])
def test_a_tuple_of_caches(layout: str, batch, rand) -> None:
    key, value = rand(5, 3, 32), rand(5, 3, 32)
    keys, values = rand(6, 4, 3, 32), rand(6, 4, 3, 32)
    expected = batch.written(keys, key), batch.written(values, value)
    laid_out = [x if layout == "NHD" else x.transpose(1, 2).contiguous() for x in (keys, values)]
    _append(batch, key, value, tuple(laid_out), kv_layout=layout)
    for got, want in zip(laid_out, expected, strict=True):
        assert _same(got if layout == "NHD" else got.transpose(1, 2), want)


def test_heads_before_slots_in_one_tensor(batch, rand) -> None:
    key, value, cache = rand(5, 3, 32), rand(5, 3, 32), rand(6, 2, 3, 4, 32)
    nhd = cache.transpose(2, 3)
    keys, values = batch.written(nhd[:, 0], key), batch.written(nhd[:, 1], value)
    _append(batch, key, value, cache, kv_layout="HND")
    assert _same(nhd[:, 0], keys)
    assert _same(nhd[:, 1], values)


@pytest.mark.parametrize("layout", ["NHD", "HND"])
@pytest.mark.parametrize("stacked", [True, False])
def test_a_page_of_one_slot_needs_no_dimension(stacked: bool, layout: str, device, rand) -> None:
    key, value, cache = rand(2, 3, 8), rand(2, 3, 8), rand(7, 2, 3, 8)
    given: Any = cache if stacked else (cache[:, 0], cache[:, 1])
    table = [torch.tensor(x, device=device) for x in ([0, 0], [1, 0], [6, 2], [0, 2], [1])]
    append_paged_kv_cache(key, value, *table[:2], given, *table[2:], layout)
    assert _same(cache[2, 0], key[0])
    assert _same(cache[6, 1], value[1])


@pytest.mark.parametrize("offset", [0, 1, 2, 4])
def test_any_strides_and_alignment(offset: int, batch, rand) -> None:
    qkv = rand(5, 9, 40)
    key, value = qkv[:, 2:4, offset : offset + 24], qkv[:, 4:8:2, offset : offset + 24]
    wide = rand(6, 4, 3, 2, 32)
    before = wide.clone()
    keys, values = wide[:, :, 0, :, 8:], wide[:, :, 2, :, 8 - offset : 32 - offset]
    expected = batch.written(keys, key), batch.written(values, value)
    _append(batch, key, value, (keys, values))
    assert _same(keys, expected[0])
    assert _same(values, expected[1])
    assert torch.equal(wide[:, :, 1], before[:, :, 1])


def test_indices_of_64_bits_at_any_stride(device: str, rand) -> None:
    batch = Batch(device, torch.int64)
    spread = batch.where["positions"].repeat_interleave(3)[::3]
    batch.where["positions"] = spread
    key, value, cache = rand(5, 3, 32), rand(5, 3, 32), rand(6, 2, 4, 3, 32)
    keys = batch.written(cache[:, 0], key)
    _append(batch, key, value, cache)
    assert _same(cache[:, 0], keys)


def test_rows_longer_than_a_block(batch, rand) -> None:
    key, value, cache = rand(5, 20, 136), rand(5, 20, 136), rand(6, 2, 4, 20, 136)
    keys, values = batch.written(cache[:, 0], key), batch.written(cache[:, 1], value)
    _append(batch, key, value, cache)
    assert _same(cache[:, 0], keys)
    assert _same(cache[:, 1], values)


@pytest.mark.parametrize("shape", [(0, 3, 8), (5, 0, 8), (5, 3, 0)])
def test_no_elements_are_no_work(shape: tuple[int, int, int], device: str, rand) -> None:
    batch = Batch(device)
    batch.where = {name: x[: shape[0]] for name, x in batch.where.items()}
    cache = rand(6, 2, 4, *shape[1:])
    before = cache.clone()
    _append(batch, rand(*shape), rand(*shape), cache)
    assert torch.equal(cache, before)


@pytest.mark.parametrize(("ckv_dim", "kpe_dim"), [(512, 64), (24, 7), (8, 320)])
def test_either_cache_of_mla_may_be_none(ckv_dim: int, kpe_dim: int, batch, rand) -> None:
    ckv, kpe = rand(5, ckv_dim), rand(5, kpe_dim)
    for left_out in (None, 0, 1):
        caches: list[Any] = [rand(6, 4, ckv_dim), rand(6, 4, kpe_dim)]
        want = [batch.written(x, new) for x, new in zip(caches, (ckv, kpe), strict=True)]
        _append_mla(batch, ckv, kpe, *(None if i == left_out else caches[i] for i in (0, 1)))
        for i in (0, 1):
            assert i == left_out or _same(caches[i], want[i])
    _append_mla(batch, ckv, kpe, None, None)


def test_caches_of_mla_in_one_tensor(batch, rand) -> None:
    both, caches = rand(5, 576), rand(6, 4, 576)
    want = batch.written(caches, both)
    _append_mla(batch, both[:, :512], both[:, 512:], caches[..., :512], caches[..., 512:])
    assert _same(caches, want)


def test_pdl_does_not_change_what_is_copied(batch, rand) -> None:
    cache = rand(6, 2, 4, 3, 32)
    other = cache.clone()
    key, value = rand(5, 3, 32), rand(5, 3, 32)
    _append(batch, key, value, cache, enable_pdl=True)
    _append(batch, key, value, other, enable_pdl=False)
    assert torch.equal(cache, other)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"append_key": (5, 3)}, ValueError, r"'append_key' has shape \(5, 3\)"),
        ({"append_value": (4, 3, 8)}, ValueError, r"'append_value' has shape .*\(5, heads, dim\)"),
        (
            {"append_value": (5, 2, 8)},
            ValueError,
            r"'paged_kv_cache' .*4 slots of 3 x 8; expected 4 slots of 2 x 8",
        ),
        ({"paged_kv_cache": (6, 3, 4, 3, 8)}, ValueError, r"'paged_kv_cache' .*\(pages, 2, page"),
        ({"paged_kv_cache": (6, 2, 4, 3, 9)}, ValueError, r"'paged_kv_cache' .*4 slots of 3 x 9"),
        ({"positions": (4,)}, ValueError, r"'positions' has shape \(4,\); it is \(5,\)"),
        ({"kv_indptr": (4,)}, ValueError, r"'kv_indptr' has shape \(4,\); it is \(3,\)"),
        ({"kv_layout": "NDH"}, ValueError, r"'kv_layout' is 'NDH'; it is 'NHD' or 'HND'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    change: dict[str, Any], error: type[Exception], message: str, batch, rand
) -> None:
    shapes = {"append_key": (5, 3, 8), "append_value": (5, 3, 8), "paged_kv_cache": (6, 2, 4, 3, 8)}
    inputs: dict[str, Any] = {name: rand(*shape) for name, shape in shapes.items()}
    inputs |= batch.where | batch.table
    for name, value in change.items():
        kept = isinstance(value, str)
        inputs[name] = value if kept else rand(*value, dtype=inputs[name].dtype)
    with pytest.raises(error, match=rf"append_paged_kv_cache: argument {message}"):
        append_paged_kv_cache(**inputs)


def test_other_dtypes_and_strides_are_refused_by_name(batch, rand) -> None:
    key, cache = rand(5, 3, 8), rand(6, 2, 4, 3, 8)
    with pytest.raises(TypeError, match=r"'append_value' has dtype float32, 'append_key' has"):
        _append(batch, key, key.float(), cache)
    with pytest.raises(TypeError, match=r"'paged_kv_cache' has dtype float32, 'append_key' has"):
        _append(batch, key, key, cache.float())
    with pytest.raises(ValueError, match=r"'append_key' has strides .*append_key.contiguous\(\)"):
        _append(batch, rand(5, 8, 3).transpose(1, 2), key, cache)
    with pytest.raises(ValueError, match=r"'paged_kv_cache' has strides .*must be contiguous"):
        _append(batch, key, key, rand(6, 2, 4, 8, 3).transpose(3, 4))
    batch.where["positions"] = batch.where["positions"].float()
    with pytest.raises(ValueError, match=r"'positions' has dtype float32; accepted: int32, int64"):
        _append(batch, key, key, cache)


def test_caches_of_mla_that_do_not_fit_are_refused_by_name(batch, rand) -> None:
    ckv, kpe = rand(5, 16), rand(5, 8)
    with pytest.raises(ValueError, match=r"'ckv_cache' has shape .*4 slots of 1 x 8; expected"):
        _append_mla(batch, ckv, kpe, rand(6, 4, 8), None)
    with pytest.raises(ValueError, match=r"'kpe_cache' has shape .*\(pages, page_size, dim\)"):
        _append_mla(batch, ckv, kpe, None, rand(6, 4, 1, 8))
    with pytest.raises(ValueError, match=r"'kpe_cache' has pages of 2 slots, 'ckv_cache' of 4"):
        _append_mla(batch, ckv, kpe, rand(6, 4, 16), rand(6, 2, 8))
    with pytest.raises(ValueError, match=r"'kpe_cache' has 2 pages, 'ckv_cache' 6"):
        _append_mla(batch, ckv, kpe, rand(6, 4, 16), rand(2, 4, 8))


def test_values_of_fewer_pages_are_refused(batch, rand) -> None:
    """The table is of both: what is beyond the end of the values would be overwritten."""
    key = rand(5, 3, 8)
    with pytest.raises(ValueError, match=r"'paged_kv_cache' has 2 pages, that of the keys 6"):
        _append(batch, key, key, (rand(6, 4, 3, 8), rand(2, 4, 3, 8)))


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements(rand, device: str) -> None:
    page = 1 << 20
    pages = (1 << 11) + 3
    if torch.cuda.mem_get_info()[0] < 2 * pages * page + (1 << 30):
        pytest.skip("needs more free GPU memory")
    cache = torch.zeros(pages, 2, page // 128, 1, 128, dtype=torch.uint8, device=device)
    key, value = rand(1, 1, 128, dtype=torch.uint8), rand(1, 1, 128, dtype=torch.uint8)
    table = [torch.tensor(x, device=device) for x in ([0], [3], [pages - 1], [0, 1], [4])]
    append_paged_kv_cache(key, value, *table[:2], cache, *table[2:])
    assert torch.equal(cache[-1, 0, 3], key[0])
    assert torch.equal(cache[-1, 1, 3], value[0])
    assert int(cache.count_nonzero()) == int(key.count_nonzero() + value.count_nonzero())
