"""What the traces of the ropes cannot say: dims, strides, layouts, far positions, and refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fictl.kernels.rope.apply import op
from fictl.kernels.rope.apply import trace as traces
from fictl.testing import assert_close

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
Rope = Callable[..., tuple[torch.Tensor, torch.Tensor]]


@pytest.fixture
def randn(device: str) -> Callable[..., torch.Tensor]:
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


@pytest.fixture
def ids(device: str) -> Callable[..., torch.Tensor]:
    def make(count: int, most: int = 131072, dtype: torch.dtype = torch.int32) -> torch.Tensor:
        return torch.randint(0, most, (count,), device=device).to(dtype)

    return make


def _expected(
    q: torch.Tensor,
    k: torch.Tensor,
    pos_ids: torch.Tensor,
    rotary_dim: int | None = None,
    interleave: bool = False,
    rope_scale: float = 1.0,
    rope_theta: float = 1e4,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The reference on the values that are rotated, beside the others."""
    heads = (q.double(), k.double())
    size = q.shape[-1] if rotary_dim is None else rotary_dim
    turned = traces.apply_rope_pos_ids.reference(
        *(x[..., :size] for x in heads), pos_ids, interleave, rope_scale, rope_theta
    )
    both = zip(turned, heads, strict=True)
    q_out, k_out = (torch.cat([a, x[..., size:]], dim=-1) for a, x in both)
    return q_out, k_out


def _close(actual: tuple[torch.Tensor, ...], expected: tuple[torch.Tensor, ...]) -> None:
    for value, wanted in zip(actual, expected, strict=True):
        assert_close(value, wanted)


@pytest.mark.parametrize("interleave", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("head_dim", [2, 6, 16, 24, 64, 80, 96, 128, 256, 512])
def test_any_head_dim(head_dim: int, dtype: torch.dtype, interleave: bool, randn, ids) -> None:
    q, k = randn(3, 3, head_dim, dtype=dtype), randn(3, 2, head_dim, dtype=dtype)
    pos_ids = ids(3)
    _close(
        op.apply_rope_pos_ids(q, k, pos_ids, interleave=interleave),
        _expected(q, k, pos_ids, interleave=interleave),
    )


@pytest.mark.parametrize("interleave", [False, True])
@pytest.mark.parametrize(
    ("rotary_dim", "head_dim"), [(0, 16), (16, 64), (24, 96), (32, 80), (32, 40), (64, 72), (2, 3)]
)
def test_what_is_beyond_rotary_dim_is_copied_or_left_alone(
    rotary_dim: int, head_dim: int, interleave: bool, randn, ids
) -> None:
    for dtype in (torch.half, torch.float32):
        q, k = randn(3, 5, head_dim, dtype=dtype), randn(3, 1, head_dim, dtype=dtype)
        pos_ids = ids(3)
        expected = _expected(q, k, pos_ids, rotary_dim, interleave)
        rotated = op.apply_rope_pos_ids(q, k, pos_ids, rotary_dim, interleave)
        _close(rotated, expected)
        for got, whole in zip(rotated, (q, k), strict=True):
            assert torch.equal(got[..., rotary_dim:], whole[..., rotary_dim:])
        op.apply_rope_pos_ids_inplace(q, k, pos_ids, rotary_dim, interleave)
        assert torch.equal(q, rotated[0])
        assert torch.equal(k, rotated[1])


@pytest.mark.parametrize(
    "heads", [(1, 0), (0, 1), (1, 1), (32, 8), (71, 1), (130, 2)], ids=lambda x: f"{x[0]}+{x[1]}"
)
def test_any_number_of_heads(heads: tuple[int, int], randn, ids) -> None:
    q, k = (randn(3, count, 64, dtype=torch.bfloat16) for count in heads)
    pos_ids = ids(3)
    _close(op.apply_rope_pos_ids(q, k, pos_ids), _expected(q, k, pos_ids))


def test_more_values_a_token_than_a_block_takes_at_a_time(randn, ids) -> None:
    q, k, pos_ids = randn(2, 40, 254), randn(2, 2, 254), ids(2)
    _close(op.apply_rope_pos_ids(q, k, pos_ids), _expected(q, k, pos_ids))


@pytest.mark.parametrize("position", [0, 1, 100_003, 131_071, 2**24 + 1, 2**31 - 1, -5])
def test_angles_are_exact_at_any_position(position: int, randn, device: str) -> None:
    q, k = randn(1, 4, 128), randn(1, 0, 128)
    for dtype in (torch.int32, torch.int64):
        pos_ids = torch.tensor([position], device=device, dtype=dtype)
        got, _ = op.apply_rope_pos_ids(q, k, pos_ids)
        assert_close(got, _expected(q, k, pos_ids)[0])


@pytest.mark.parametrize("rope_scale", [0.01, 0.5, 1, 40])
@pytest.mark.parametrize("rope_theta", [0.5, 1, 10, 1e4, 1e7])
def test_any_frequencies(rope_scale: float, rope_theta: float, randn, ids) -> None:
    q, k, pos_ids = randn(4, 2, 32), randn(4, 1, 32), ids(4, 4096)
    numbers = {"rope_scale": rope_scale, "rope_theta": rope_theta}
    _close(op.apply_rope_pos_ids(q, k, pos_ids, **numbers), _expected(q, k, pos_ids, **numbers))


@pytest.mark.parametrize("numbers", [(8, 5e5, 1, 4, 8192), (32, 1e4, 1, 4, 512), (2, 10, 2, 3, 64)])
@pytest.mark.parametrize("interleave", [False, True])
def test_llama31_scales_what_turns_slowly(
    numbers: tuple[float, ...], interleave: bool, randn, ids
) -> None:
    q, k, pos_ids = randn(4, 2, 64), randn(4, 1, 64), ids(4)
    reference = traces.apply_llama31_rope_pos_ids.reference
    _close(
        op.apply_llama31_rope_pos_ids(q, k, pos_ids, None, interleave, *numbers),
        reference(q.double(), k.double(), pos_ids, interleave, *numbers),
    )


def _spread(lengths: list[int], device: str, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """(indptr, offsets, the position of every token) of segments of these lengths."""
    counts = torch.tensor(lengths, device=device)
    offsets = torch.randint(0, 10_000, counts.shape, device=device)
    indptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    places = torch.cat(
        [start + torch.arange(n, device=device) for start, n in zip(offsets, counts, strict=True)]
    )
    return indptr.to(dtype), offsets.to(dtype), places


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize(
    "lengths",
    [
        [1],
        [9],
        [0, 3, 0, 0, 4, 0],
        [1] * 33,
        [0] * 40 + [2] + [0] * 30,
        [2, 0, 1] * 25 + [0] * 1000,
    ],
    ids=["one token", "one", "empty ones", "33", "one of many", "1075"],
)
def test_any_segments(lengths: list[int], dtype: torch.dtype, randn, device: str) -> None:
    indptr, offsets, pos_ids = _spread(lengths, device, dtype)
    q, k = randn(sum(lengths), 2, 16), randn(sum(lengths), 1, 16)
    _close(op.apply_rope(q, k, indptr, offsets), _expected(q, k, pos_ids))


@pytest.mark.parametrize("count", [0, 2])
def test_tokens_of_no_segment_stay_as_they_are(count: int, randn, device: str) -> None:
    indptr = torch.tensor([1, 3, 4][: count + 1], device=device, dtype=torch.int32)
    offsets = torch.tensor([7, 9][:count], device=device, dtype=torch.int32)
    q, k = randn(6, 2, 16), randn(6, 1, 16)
    before = q.clone()
    expected, _ = _expected(q, k, torch.tensor([0, 7, 8, 9, 0, 0], device=device))
    op.apply_rope_inplace(q, k, indptr, offsets)
    inside = slice(1, 4) if count else slice(0, 0)
    assert_close(q[inside], expected[inside])
    before[inside] = q[inside]
    assert torch.equal(q, before)


@pytest.mark.parametrize("heads", [(4, 2, 2), (4, 4, 0)])
def test_heads_are_rotated_within_packed_projections(heads: tuple[int, ...], randn, ids) -> None:
    packed, pos_ids = randn(5, sum(heads), 32, dtype=torch.half), ids(5)
    before = packed.clone()
    q, k, _ = packed.split(heads, dim=1)
    op.apply_rope_pos_ids_inplace(q, k, pos_ids)
    q_before, k_before, rest = before.split(heads, dim=1)
    _close((q, k), _expected(q_before, k_before, pos_ids))
    assert torch.equal(packed[:, heads[0] + heads[1] :], rest)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, :, :32],
        lambda x: x[:, :, 8:40],
        lambda x: x[:, :, 1:33],
        lambda x: x[::2],
        lambda x: x[:, 1::2],
        lambda x: x.transpose(0, 1)[:, :4],
        lambda x: x[:1].expand(6, 6, 48),
        lambda x: x[:, :1].expand(6, 4, 48),
    ],
    ids=["columns", "aligned", "misaligned", "tokens", "heads", "heads first", "token", "head"],
)
def test_tokens_and_heads_at_any_pitch(view, randn, ids, device: str) -> None:
    q, k = (view(randn(6, 6, 48, dtype=torch.bfloat16)) for _ in range(2))
    pos_ids = ids(len(q))
    expected = _expected(q, k, pos_ids)
    q_out, k_out = (torch.empty(x.shape, device=device, dtype=x.dtype) for x in (q, k))
    _close(op.apply_rope_pos_ids(q, k, pos_ids, q_out=q_out, k_out=k_out), expected)
    wide = torch.full((len(q), q.shape[1], 50), 7.0, device=device).bfloat16()
    op.apply_rope_pos_ids(q, k, pos_ids, q_out=wide[..., : q.shape[2]], k_out=k_out)
    assert_close(wide[..., : q.shape[2]], expected[0])
    assert bool((wide[..., q.shape[2] :] == 7).all())


def test_one_output_may_be_its_input(randn, ids) -> None:
    q, k, pos_ids = randn(3, 2, 48), randn(3, 1, 48), ids(3)
    expected = _expected(q, k, pos_ids, 32)
    q_out, k_out = op.apply_rope_pos_ids(q, k, pos_ids, 32, q_out=q)
    assert q_out is q
    _close((q_out, k_out), expected)


@pytest.mark.parametrize("shape", [(0, 2, 16), (3, 0, 16), (3, 2, 0)])
def test_no_elements_are_no_work(shape: tuple[int, ...], randn, ids) -> None:
    q, k = randn(*shape), randn(shape[0], 0, shape[2])
    q_out, k_out = op.apply_rope_pos_ids(q, k, ids(shape[0]))
    assert (q_out.shape, k_out.shape) == (q.shape, k.shape)
    op.apply_rope_inplace(q, k, ids(2, 1), ids(1))


def _table(rows: int, rotary_dim: int, device: str) -> torch.Tensor:
    angles = torch.randn(rows, rotary_dim // 2, device=device)
    return torch.cat([angles.cos(), angles.sin()], dim=1)


@pytest.mark.parametrize("is_neox", [False, True])
@pytest.mark.parametrize(("rotary_dim", "head_size"), [(32, 32), (32, 48), (12, 24), (6, 9)])
def test_a_table_of_cosines_and_sines(
    rotary_dim: int, head_size: int, is_neox: bool, randn, ids, device: str
) -> None:
    table, positions = _table(20, rotary_dim, device), ids(4, 20, torch.int64)
    query, key = (randn(4, heads * head_size, dtype=torch.half) for heads in (3, 1))
    exact = (positions, query.double(), key.double(), head_size, table.double(), is_neox)
    expected = traces.apply_rope_with_cos_sin_cache.reference(*exact)
    rotate = op.apply_rope_with_cos_sin_cache
    _close(rotate(positions, query, key, head_size, table, is_neox), expected)
    heads = [x.view(4, -1, head_size) for x in (query, key)]
    apart = rotate(positions, *heads, head_size, table, is_neox)
    _close(tuple(x.flatten(1) for x in apart), expected)
    op.apply_rope_with_cos_sin_cache_inplace(positions, query, key, head_size, table, is_neox)
    _close((query, key), expected)


def test_a_table_rotates_slices_of_packed_projections(randn, ids, device: str) -> None:
    packed, table, positions = randn(5, 4 * 16), _table(9, 16, device), ids(5, 9)
    before = packed.clone()
    query, key = packed[:, :32], packed[:, 32:48]
    op.apply_rope_with_cos_sin_cache_inplace(positions, query, key, 16, table)
    reference = traces.apply_rope_with_cos_sin_cache.reference
    exact = (
        positions,
        before[:, :32].double(),
        before[:, 32:48].double(),
        16,
        table.double(),
        True,
    )
    _close((query, key), reference(*exact))
    assert torch.equal(packed[:, 48:], before[:, 48:])


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn, ids) -> None:
    k, pos_ids = randn(64, 1, 128), ids(64)
    with_pdl = randn(64, 8, 128)
    without = with_pdl.clone()
    for _ in range(5):
        op.apply_rope_pos_ids_inplace(with_pdl, k.clone(), pos_ids, enable_pdl=True)
        op.apply_rope_pos_ids_inplace(without, k.clone(), pos_ids, enable_pdl=False)
    assert torch.equal(with_pdl, without)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": (3, 32)}, r"'q' has shape \(3, 32\); pass it as \(tokens, heads, head_dim\)$"),
        ({"k": (3, 1, 8)}, r"'k' has shape \(3, 1, 8\), which is not of heads of 16 values"),
        ({"k": (2, 1, 16)}, r"'k' has 2 tokens, 'q' has 3"),
        ({"q_out": (3, 2, 8)}, r"'q_out' has shape \(3, 2, 8\), 'q' has \(3, 2, 16\)"),
        ({"k_out": (3, 2, 16)}, r"'k_out' has shape \(3, 2, 16\), 'k' has \(3, 1, 16\)"),
    ],
)
def test_other_shapes_are_refused_by_name(change, message: str, randn, ids) -> None:
    shapes = {"q": (3, 2, 16), "k": (3, 1, 16), **change}
    with pytest.raises(ValueError, match=f"apply_rope_pos_ids: argument {message}"):
        op.apply_rope_pos_ids(**{n: randn(*s) for n, s in shapes.items()}, pos_ids=ids(3))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"rotary_dim": 7}, "'rotary_dim' says to rotate 7 values of 16; it is an even number"),
        ({"rotary_dim": 18}, "'rotary_dim' says to rotate 18 values of 16"),
        ({"rotary_dim": -2}, "'rotary_dim' says to rotate -2 values"),
        ({"rope_scale": 0.0}, "'rope_scale' is 0; pass a positive number"),
        ({"rope_theta": float("inf")}, "'rope_theta' is inf; pass a positive number"),
    ],
)
def test_numbers_that_make_no_rotation_are_refused(numbers, message: str, randn, ids) -> None:
    with pytest.raises(ValueError, match=f"apply_rope_pos_ids_inplace: argument {message}"):
        op.apply_rope_pos_ids_inplace(randn(3, 2, 16), randn(3, 1, 16), ids(3), **numbers)


def test_llama31_factors_out_of_order_are_refused(randn, ids) -> None:
    with pytest.raises(ValueError, match=r"apply_llama31_rope_pos_ids: .*'high_freq_factor' is 1"):
        op.apply_llama31_rope_pos_ids(
            randn(3, 2, 16), randn(3, 1, 16), ids(3), low_freq_factor=4, high_freq_factor=1
        )


def test_other_dtypes_are_refused_by_name(randn, ids, device: str) -> None:
    q, k, pos_ids = randn(3, 2, 16), randn(3, 1, 16), ids(3)
    with pytest.raises(TypeError, match=r"apply_rope_pos_ids: .*'k' has dtype float16"):
        op.apply_rope_pos_ids(q, k.half(), pos_ids)
    with pytest.raises(TypeError, match=r"'q' has dtype float64; accepted: float16, bfloat16"):
        op.apply_rope_pos_ids(q.double(), k.double(), pos_ids)
    with pytest.raises(ValueError, match=r"'pos_ids' has dtype float32; accepted: int32, int64"):
        op.apply_rope_pos_ids(q, k, pos_ids.float())
    with pytest.raises(TypeError, match=r"'cos_sin_cache' has dtype float16; accepted: float32"):
        table = _table(4, 16, device).half()
        op.apply_rope_with_cos_sin_cache(ids(3, 4), q.flatten(1), k.flatten(1), 16, table)


def test_indices_of_another_length_are_refused_by_name(randn, ids) -> None:
    q, k = randn(3, 2, 16), randn(3, 1, 16)
    with pytest.raises(ValueError, match=r"'pos_ids' has shape \(4,\); it is \(3,\)"):
        op.apply_rope_pos_ids(q, k, ids(4))
    with pytest.raises(ValueError, match=r"apply_rope: .*'indptr' has shape \(2,\); it is \(3,\)"):
        op.apply_rope(q, k, ids(2), ids(2))


def test_heads_that_overlap_or_are_torn_are_refused_in_words(randn, ids) -> None:
    q, k, pos_ids = randn(3, 2, 16), randn(3, 1, 16), ids(3)
    with pytest.raises(ValueError, match=r"'q_out' .*strides \(0, 16, 1\): its rows overlap"):
        op.apply_rope_pos_ids(q, k, pos_ids, q_out=randn(1, 2, 16).expand(3, 2, 16))
    with pytest.raises(ValueError, match=r"'k' .*must be contiguous .*; pass k.contiguous\(\)"):
        op.apply_rope_pos_ids(q, randn(3, 1, 32)[..., ::2], pos_ids)


def test_a_head_size_that_divides_no_row_is_refused(randn, ids, device: str) -> None:
    table, positions = _table(4, 8, device), ids(3, 4)
    rotate = op.apply_rope_with_cos_sin_cache_inplace
    with pytest.raises(
        ValueError, match=r"'query' has shape \(3, 30\), which is not of heads of 8"
    ):
        rotate(positions, randn(3, 30), randn(3, 16), 8, table)
    with pytest.raises(ValueError, match=r"'cos_sin_cache' says to rotate 8 values of 4"):
        rotate(positions, randn(3, 32), randn(3, 16), 4, table)
    with pytest.raises(ValueError, match=r"'head_size' is 0"):
        rotate(positions, randn(3, 32), randn(3, 16), 0, table)


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements() -> None:
    tokens = (1 << 31) // (4 * 128) + 3
    if torch.cuda.mem_get_info()[0] < 3 * tokens * 4 * 128:
        pytest.skip("needs more free GPU memory")
    q = torch.zeros(tokens, 4, 128, device="cuda", dtype=torch.half)
    k, ends = q[:, :0], torch.tensor([0, tokens - 2, tokens - 1], device="cuda")
    q[ends] = torch.randn(3, 4, 128, device="cuda").half()
    expected, _ = _expected(q[ends], k[ends], ends)
    op.apply_rope_pos_ids_inplace(q, k, torch.arange(tokens, device="cuda"))
    assert_close(q[ends], expected)
    assert int(q[1 : tokens - 2].count_nonzero()) == 0
