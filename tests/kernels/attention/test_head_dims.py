"""Heads of any sizes, and of values of other sizes, on every kernel."""

from __future__ import annotations

import re
from random import Random

import pytest
import torch

from fictl.kernels.attention import _tiles
from fictl.kernels.attention._config import Config
from fictl.kernels.attention._head_dims import cuda_cores_misfit, misfit, value_parts
from fictl.kernels.attention._tiles import TENSOR_CORES, shared_bytes, tile, tile_rows
from fictl.kernels.attention.cascade.op import MultiLevelCascadeAttentionWrapper
from fictl.kernels.attention.single.op import single_prefill_with_kv_cache

from .launched import FREQUENCIES, attend, shape_of
from .reference import Batch, Shape, assert_attends, workspace
from .work_lists import WorkList

HALF, BF16, E4M3 = torch.float16, torch.bfloat16, torch.float8_e4m3fn
on_gpu = pytest.mark.needs_gpu  # each more is a compile of some seconds


def _config(
    rows: int, dim: int, dim_v: int = 0, kv: torch.dtype = BF16, paged: bool = True, **others: bool
) -> Config:
    return Config(BF16, kv, BF16, dim, paged, rows, head_dim_v=dim_v, **others)


CONFIGS = (
    # What vision encoders have: full attention, padded to columns of tensor cores.
    _config(64, 72, paged=False),
    # The heads of DeepSeek's prefill.
    _config(128, 192, 128, paged=False),
    # Two blocks to a head of values, one warp to a block.
    _config(16, 512),
    _config(16, 80, kv=E4M3),
    _config(2, 80, 48, tensor_cores=False),
    *(
        pytest.param(config, marks=on_gpu)
        for config in (
            _config(64, 512),
            _config(64, 264, 392),
            _config(64, 512, kv=E4M3),
            _config(64, 64, 256),
            _config(128, 160),
            _config(128, 160, kv=E4M3),
            _config(128, 96, paged=False),
            _config(128, 80, rope=True),
            _config(64, 24, 8),
            _config(16, 72),
            _config(16, 96, 192),
            _config(16, 160),
            _config(16, 192, 128),
            _config(16, 264, 392),
            _config(16, 192, 128, kv=E4M3),
            _config(16, 80, rope=True),
            _config(16, 80, kv=E4M3, rope=True),
            _config(1, 192, 128, tensor_cores=False),
            _config(3, 72, tensor_cores=False),
            _config(2, 96, kv=E4M3, tensor_cores=False, rope=True),
        )
    ),
)


def _check(config: Config, random: Random, device: str) -> None:
    """Splits at any keys, with pages, layouts and windows drawn; where nothing is read is NaN."""
    group = random.randint(1, 3) if config.tensor_cores else config.rows
    many = config.tensor_cores and config.rows > 16
    q_lens = [random.choice((1, 5, config.rows // group + 1)) if many else 1 for _ in range(3)]
    kv_lens = [random.randint(low, 100) for low in (0, 33, 65)]
    layout, page_size = random.choice(("NHD", "HND")), random.choice((1, 5, 16, 64))
    shape = shape_of(config, group, layout=layout, page_size=page_size)
    batch = Batch(q_lens, kv_lens, shape, device, random.getrandbits(30))
    causal, window = random.random() < 0.5, random.choice((-1, -1, 20))
    cuts = sorted(random.sample(range(1, 100), random.choice((0, 2, 9))))
    work = WorkList(batch, config.rows, cuts, causal=causal, window_left=window, paged=config.paged)
    expected = batch.expected(
        causal=causal, window_left=window, rope=FREQUENCIES if config.rope else None
    )
    assert_attends(attend(config, work), expected, (config, work), rope=config.rope)


@pytest.fixture
def random(request: pytest.FixtureRequest) -> Random:
    """Another one in every run; --fictl-seed repeats it."""
    return Random(f"{request.config.option.fictl_seed} {request.node.name}")


@pytest.mark.parametrize("config", CONFIGS, ids=lambda each: f"{each.rows}x{each.head_dim}")
def test_heads_of_other_sizes(config: Config, random: Random, device: str) -> None:
    for _ in range(12 if device == "cuda" else 3):
        _check(config, random, device)


def test_heads_of_any_size(random: Random, device: str) -> None:
    """One kernel of this run's seed; a GPU compiles a few."""
    for _ in range(6 if device == "cuda" else 1):
        kv = random.choice((BF16, BF16, E4M3))
        multiple = 16 // kv.itemsize
        dims = [random.randint(1, 512 // multiple) * multiple for _ in range(2)]
        heights = [each.rows for each in TENSOR_CORES if not _lacks(each.rows, *dims)]
        config = _config(random.choice(heights), *dims, kv=kv, paged=random.random() < 0.5)
        for _ in range(3):
            _check(config, random, device)


def test_one_request_with_a_soft_cap(device: str) -> None:
    batch = Batch([9], [33], Shape(40, 3, 1, dim_v=24), device)
    found = single_prefill_with_kv_cache(
        batch.q, *batch.ragged(), causal=True, logits_soft_cap=5.0, return_lse=True
    )
    assert_attends(found, batch.expected(causal=True, logits_soft_cap=5.0))


def test_a_cascade_merges_heads_of_values(device: str) -> None:
    """Two levels of the same requests: the first has the first pages of each, the second the rest."""
    batch = Batch([2, 3], [70, 21], Shape(48, 2, 1, page_size=16, dim_v=32), device)
    begins, pages, last = batch.page_table()
    first = torch.cat([pages[:2], pages[5:6]])
    own = torch.cat([pages[2:5], pages[6:]])
    made = MultiLevelCascadeAttentionWrapper(2, workspace(device))
    made.plan(
        [batch.qo_indptr] * 2,
        [torch.tensor([0, 2, 3]), torch.tensor([0, 3, 4])],
        [first, own],
        [torch.tensor([16, 16]), last],
        2,
        1,
        48,
        16,
        causal=True,
        q_data_type=torch.bfloat16,
        head_dim_vo=32,
    )
    assert begins.tolist() == [0, 5, 7]
    assert_attends(made.run(batch.q, batch.caches()), batch.expected(causal=True))


def _lacks(rows: int, dim: int, dim_v: int) -> bool:
    try:
        tile(rows, dim, head_dim_v=dim_v)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    ("dims", "options", "message"),
    [
        ((76, 76), {}, "heads of keys have 76 elements; .* multiples of 8 up to 512: .* 16 bytes"),
        ((512, 512), {"rope": True}, "rotates heads of multiples of 16 up to 480"),
        ((64, 100), {}, "heads of values have 100 elements"),
        (
            (576, 512),
            {},
            "heads of keys have 576 elements; .* 160 KiB of the 163 KiB of shared memory",
        ),
        ((72, 64), {"kv_bytes": 1}, "have 72 elements; .* multiples of 16 .* keys of 8 bits"),
        ((72, 72), {"rope": True}, "'ROPE_LLAMA' rotates heads of multiples of 16"),
        ((0, 64), {}, "heads of keys have 0 elements"),
    ],
)
def test_a_refusal_says_what_fits(
    dims: tuple[int, int], options: dict[str, int], message: str
) -> None:
    assert re.search(message, misfit(*dims, **options))


def test_what_cuda_cores_lack_is_left_to_tensor_cores() -> None:
    assert cuda_cores_misfit(256, 128) == cuda_cores_misfit(80, 80, rope=True) == ""
    assert cuda_cores_misfit(128, 264) == "heads of 264"
    assert "rotated heads of 80" in cuda_cores_misfit(80, 80, kv_bytes=1, rope=True)


def test_long_heads_take_short_tiles_where_shared_memory_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tall = tile(64, 512)
    assert 160 * 1024 < shared_bytes(tall, 512, 512) < 163 * 1024
    assert tile_rows(100, 1, 1, 512) == 64
    # The heads that any GPU has memory for.
    for dims in ((128, 128), (160, 160), (192, 128), (256, 256)):
        for rows in (64, 128) if dims != (256, 256) else (64,):
            assert shared_bytes(tile(rows, dims[0], head_dim_v=dims[1]), *dims) < 99 * 1024
    monkeypatch.setattr(_tiles, "_shared_bytes_of", lambda _: 99 * 1024)
    small = torch.device("cuda", 77)
    assert tile_rows(100, 1, 1, 512, 512, small) == 16
    assert tile_rows(200, 1, 1, 128, 128, small) == 128


def test_a_long_head_of_values_is_shared_out() -> None:
    assert [value_parts(dim) for dim in (8, 256, 264, 512)] == [1, 1, 2, 2]
