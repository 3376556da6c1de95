"""What the traces of rope_quantize cannot say: neighbours as pairs, no rest, MLA's caches, refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.rope.quantize.op import (
    mla_rope_quantize_fp8,
    rope_quantize_fp8,
    rope_quantize_fp8_append_paged_kv_cache,
)
from fictl.kernels.rope.quantize.trace import rope_quantize_fp8 as trace
from fictl.testing import assert_close

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
TOKENS, POSITIONS = 5, 8


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


@pytest.fixture
def angles(device: str):
    def make(rope_dim: int, tokens: int = TOKENS) -> tuple[torch.Tensor, torch.Tensor]:
        """The cache of cos and sin, and positions."""
        angle = torch.randn(POSITIONS, rope_dim // 2, device=device)
        pos_ids = torch.randint(0, POSITIONS, (tokens,), device=device, dtype=torch.int32)
        return torch.cat([angle.cos(), angle.sin()], dim=-1), pos_ids

    return make


def _reference(*inputs: torch.Tensor | None, **how: Any) -> tuple[torch.Tensor, ...]:
    exact = [x.double() if x is not None and x.is_floating_point() else x for x in inputs]
    return trace.reference(*exact, **how)


def _check(got: tuple[torch.Tensor, ...], want: tuple[torch.Tensor, ...]) -> None:
    for number, (each, expected) in enumerate(zip(got, want, strict=True)):
        assert_close(each, expected, f"output {number}")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("is_neox", [True, False])
@pytest.mark.parametrize("dims", [(2, 1), (6, 5), (16, 16), (64, 0), (64, 576), (128, 32)])
def test_either_rotation_of_any_sizes(
    dims: tuple[int, int], is_neox: bool, dtype: torch.dtype, randn, angles
) -> None:
    rope, nope = dims
    q, k = randn(TOKENS, 6, rope, dtype=dtype), randn(TOKENS, 2, rope, dtype=dtype)
    rest = randn(TOKENS, 6, nope, dtype=dtype), randn(TOKENS, 2, nope, dtype=dtype)
    inputs = (q, k, *rest, *angles(rope), is_neox)
    got = rope_quantize_fp8(*inputs, quant_scale_q=0.5, quant_scale_kv=3.0)
    assert {out.dtype for out in got} == {E4M3}
    _check(got, _reference(*inputs[:-1], is_neox=is_neox, quant_scale_q=0.5, quant_scale_kv=3.0))


@pytest.mark.parametrize("heads", [1, 40, 300])
def test_fewer_and_more_heads_than_a_block_has_room_for(heads: int, randn, angles) -> None:
    inputs = (randn(TOKENS, heads, 32), randn(TOKENS, 1, 32), None, None, *angles(32))
    _check(rope_quantize_fp8(*inputs), _reference(*inputs))


def test_rounding_is_to_the_nearest_and_what_is_too_large_becomes_the_largest(
    randn, angles, device: str
) -> None:
    _, pos_ids = angles(32)
    still = torch.cat([torch.ones(POSITIONS, 16), torch.zeros(POSITIONS, 16)], dim=-1).to(device)
    q = 300 * randn(TOKENS, 4, 32)
    for dtype in (E4M3, E5M2):
        got, *_ = rope_quantize_fp8(
            q, q[:, :1], None, None, still, pos_ids, quantize_dtype=dtype, quant_scale_q=2.0
        )
        most = torch.finfo(dtype).max
        assert torch.equal(got.float(), (2.0 * q.float()).clamp(-most, most).to(dtype).float())


def test_the_dtype_is_that_of_the_outputs_given(randn, angles) -> None:
    q, k = randn(TOKENS, 2, 16), randn(TOKENS, 1, 16)
    out = torch.empty_like(k, dtype=E5M2)
    got = rope_quantize_fp8(q, k, None, None, *angles(16), k_rope_out=out)
    assert got[1] is out
    assert {each.dtype for each in got} == {E5M2}
    assert [tuple(each.shape) for each in got[2:]] == [(TOKENS, 2, 0), (TOKENS, 1, 0)]


@pytest.mark.parametrize("is_neox", [True, False])
@pytest.mark.parametrize("nope", [None, 512, 20])
def test_keys_that_all_queries_share(nope: int | None, is_neox: bool, randn, angles) -> None:
    rest = (None, None) if nope is None else (randn(TOKENS, 3, nope), randn(TOKENS, nope))
    inputs = (randn(TOKENS, 3, 64), randn(TOKENS, 64), *rest, *angles(64), is_neox)
    want = _reference(*inputs[:-1], is_neox=is_neox)
    _check(rope_quantize_fp8(*inputs), want)
    _check(mla_rope_quantize_fp8(*inputs), want)


@pytest.mark.parametrize("start", [0, 1, 8])
def test_parts_of_one_tensor_into_parts_of_another(start: int, randn, angles, device: str) -> None:
    qkv = randn(TOKENS, 9, 120)
    heads = qkv[:, :6, start:], qkv[:, 6:8, start:]
    q, k = (x[..., :64] for x in heads)
    q_rest, k_rest = (x[..., 64:96] for x in heads)
    whole = torch.full((TOKENS, 9, 120), 7.0, device=device).to(E4M3)
    outs = [whole[:, :6, :64], whole[:, 6:8, :64], whole[:, :6, 64:96], whole[:, 6:8, 64:96]]
    names = ("q_rope_out", "k_rope_out", "q_nope_out", "k_nope_out")
    inputs = (q, k, q_rest, k_rest, *angles(64))
    got = rope_quantize_fp8(*inputs, **dict(zip(names, outs, strict=True)))
    _check(got, _reference(*inputs))
    assert bool((whole[:, 8].float() == 7.0).all())
    assert bool((whole[..., 96:].float() == 7.0).all())


def test_positions_of_64_bits_and_pitched_angles(randn, angles) -> None:
    cos_sin, pos_ids = angles(32)
    wide = torch.cat([cos_sin, cos_sin[:, :3]], dim=-1)[:, :32]
    inputs = (randn(TOKENS, 2, 32), randn(TOKENS, 1, 32), None, None)
    want = _reference(*inputs, cos_sin, pos_ids)
    _check(rope_quantize_fp8(*inputs, wide, pos_ids.long()), want)


@pytest.mark.parametrize("tokens", [0, 1, 33])
def test_any_number_of_tokens(tokens: int, randn, angles) -> None:
    parts = (randn(tokens, 2, 32), randn(tokens, 1, 32), randn(tokens, 2, 16), None)
    inputs = (*parts, *angles(32, tokens))
    _check(rope_quantize_fp8(*inputs, enable_pdl=False), _reference(*inputs))


def test_so_many_that_a_thread_has_two_units(randn, angles) -> None:
    tokens = 1030
    q, k, rest = randn(tokens, 256, 16), randn(tokens, 1, 16), randn(tokens, 256, 16)
    inputs = (q, k, rest, None, *angles(16, tokens))
    _check(rope_quantize_fp8(*inputs), _reference(*inputs))


class Batch:
    """Tokens of two requests, one of them padding, and where they go in pages of 4 slots."""

    goes = ((0, 3, 3), (1, 5, 0), (2, 4, 0), (4, 0, 1))  # token, page, slot

    def __init__(self, device: str) -> None:
        self.tables = {
            "kv_indices": torch.tensor([5, 0, 3, 1, 4], device=device),
            "kv_indptr": torch.tensor([0, 2, 5], device=device, dtype=torch.int32),
            "batch_indices": torch.tensor([1, 0, 1, -1, 0], device=device, dtype=torch.int32),
            "positions": torch.tensor([3, 0, 8, 77, 5], device=device),
        }

    def check(self, cache: torch.Tensor, before: torch.Tensor, rows: torch.Tensor) -> None:
        """Pages and slots first; the other slots are as they were."""
        left = torch.ones(cache.shape[:2], dtype=torch.bool)
        for token, page, slot in self.goes:
            assert_close(cache[page, slot], rows[token])
            left[page, slot] = False
        assert torch.equal(cache.float()[left], before.float()[left])


@pytest.fixture
def batch(device: str) -> Batch:
    return Batch(device)


@pytest.mark.parametrize("layout", ["NHD", "HND"])
@pytest.mark.parametrize("form", ["stacked", "tuple"])
@pytest.mark.parametrize(("rope", "nope"), [(64, 64), (6, 5), (128, None)])
def test_keys_and_values_go_to_their_slots(
    rope: int, nope: int | None, form: str, layout: str, batch, randn, angles
) -> None:
    rest = (None, None) if nope is None else (randn(5, 4, nope), randn(5, 2, nope))
    inputs = (randn(5, 4, rope), randn(5, 2, rope), *rest)
    dim = rope + (nope or 0)
    v, rotation = randn(5, 2, dim), angles(rope)
    rotation[1][3] = 1 << 30  # of the padding
    cache = randn(6, 2, 4, 2, dim).to(E5M2)
    if layout == "HND":
        cache = cache.transpose(2, 3).contiguous()
    before = cache.clone()
    got = rope_quantize_fp8_append_paged_kv_cache(
        *inputs,
        v,
        *rotation,
        cache if form == "stacked" else cache.unbind(1),
        **batch.tables,
        is_neox=False,
        quantize_dtype=E5M2,
        quant_scale_q=0.5,
        quant_scale_kv=2.0,
        page_size=4,
        kv_layout=layout,
    )
    rotation[1][3] = 0
    want = _reference(*inputs, *rotation, is_neox=False, quant_scale_q=0.5, quant_scale_kv=2.0)
    there = torch.tensor([token for token, *_ in batch.goes], device=v.device)
    _check(tuple(x[there] for x in got), (want[0][there], want[2][there]))
    if layout == "HND":
        cache, before = cache.transpose(2, 3), before.transpose(2, 3)
    batch.check(cache[:, 0], before[:, 0], torch.cat([want[1], want[3]], dim=-1))
    batch.check(cache[:, 1], before[:, 1], 2 * v.double())


@pytest.mark.parametrize(("rope", "nope"), [(64, 512), (6, 10)])
def test_mla_has_a_cache_for_each_part(rope: int, nope: int, batch, randn, angles) -> None:
    inputs = (randn(5, 3, rope), randn(5, rope), randn(5, 3, nope), randn(5, nope))
    rotation = angles(rope)
    caches = randn(6, 4, nope).to(E4M3), randn(6, 4, rope).to(E4M3)
    before = [x.clone() for x in caches]
    out = torch.zeros(5, 3, rope, device=caches[0].device).to(E4M3)
    got = rope_quantize_fp8_append_paged_kv_cache(
        *inputs, None, *rotation, caches, **batch.tables, page_size=4, q_rope_out=out
    )
    want = _reference(*inputs, *rotation)
    assert got[0] is out
    assert bool((out[3].float() == 0).all())
    there = torch.tensor([token for token, *_ in batch.goes], device=out.device)
    _check(tuple(x[there] for x in got), (want[0][there], want[2][there]))
    batch.check(caches[0], before[0], want[3])
    batch.check(caches[1], before[1], want[1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q_rope": (5, 16)}, r"'q_rope' has shape \(5, 16\); it is \(tokens, heads, dim\)"),
        ({"k_rope": (4, 1, 16)}, r"'k_rope' has shape \(4, 1, 16\), 'q_rope' has \(5, 2, 16\)"),
        ({"k_rope": (5, 1, 8)}, r"'k_rope' has shape .*dim are to be the same"),
        ({"q_nope": (5, 3, 8)}, r"'q_nope' has shape \(5, 3, 8\), 'q_rope' has"),
        ({"k_nope": (5, 8)}, r"'k_nope' has shape \(5, 8\), 'k_rope' has"),
        ({"cos_sin_cache": (8, 12)}, r"'cos_sin_cache' has shape .*\(positions, rope_dim\)"),
        ({"pos_ids": (4,)}, r"'pos_ids' has shape \(4,\); it is \(5,\)"),
        ({"q_rope_out": (5, 2, 12)}, r"'q_rope_out' has shape \(5, 2, 12\), 'q_rope' has"),
        ({"k_nope_out": (5, 1, 9)}, r"'k_nope_out' has shape \(5, 1, 9\), 'k_nope' has"),
        ({"q_nope": None, "q_nope_out": (5, 2, 8)}, r"'q_nope_out' .*there is no 'q_nope'"),
        ({"backend": "cutile"}, r"'backend' is 'cutile'; it is 'cuda'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    change: dict[str, Any], message: str, randn, angles
) -> None:
    cos_sin, pos_ids = angles(16)
    inputs: dict[str, Any] = {
        "q_rope": randn(5, 2, 16),
        "k_rope": randn(5, 1, 16),
        "q_nope": randn(5, 2, 8),
        "k_nope": randn(5, 1, 8),
        "cos_sin_cache": cos_sin,
        "pos_ids": pos_ids,
    }
    for name, value in change.items():
        dtype = E4M3 if name.endswith("_out") else getattr(inputs.get(name), "dtype", None)
        inputs[name] = randn(*value, dtype=dtype) if isinstance(value, tuple) else value
    with pytest.raises(ValueError, match=rf"rope_quantize_fp8: argument {message}"):
        rope_quantize_fp8(**inputs)


def test_other_dtypes_and_strides_are_refused_by_name(randn, angles) -> None:
    q, k, rotation = randn(5, 2, 16), randn(5, 1, 16), angles(16)
    with pytest.raises(TypeError, match=r"'q_rope' has dtype float32; accepted: float16, bfloat16"):
        rope_quantize_fp8(q.float(), k.float(), None, None, *rotation)
    with pytest.raises(TypeError, match=r"'k_rope' has dtype float16, 'q_rope' has bfloat16"):
        rope_quantize_fp8(q, k.half(), None, None, *rotation)
    with pytest.raises(TypeError, match=r"'q_rope_out' has dtype bfloat16; accepted: float8_e4m3"):
        rope_quantize_fp8(q, k, None, None, *rotation, quantize_dtype=torch.bfloat16)
    with pytest.raises(TypeError, match=r"'cos_sin_cache' has dtype float16; accepted: float32"):
        rope_quantize_fp8(q, k, None, None, rotation[0].half(), rotation[1])
    with pytest.raises(ValueError, match=r"'q_rope' has strides .*q_rope.contiguous\(\)"):
        rope_quantize_fp8(randn(5, 16, 2).transpose(1, 2), k, None, None, *rotation)
    with pytest.raises(ValueError, match=r"'k_rope_out' has .*its rows overlap"):
        overlapping = randn(1, 1, 16, dtype=E4M3).expand(5, 1, 16)
        rope_quantize_fp8(q, k, None, None, *rotation, k_rope_out=overlapping)
    with pytest.raises(ValueError, match=r"mla_rope_.*: argument 'k_rope' has shape \(5, 1, 16\)"):
        mla_rope_quantize_fp8(q, k, None, None, *rotation)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"v": None}, r"'v' is None, but 'k_rope' has shape \(5, 1, 16\)"),
        ({"v": (5, 2, 16)}, r"'v' has shape \(5, 2, 16\), 'k_rope' has"),
        ({"k_rope": (5, 16)}, r"'v' is given, but 'k_rope' .* pass None"),
        ({"k_rope": (5, 16), "v": None}, r"'paged_kv_cache' is one tensor .*a tuple of ckv_cache"),
        ({"paged_kv_cache": (6, 2, 4, 1, 8)}, r"'paged_kv_cache' .*4 slots of 1 x 8; expected"),
        ({"page_size": 8}, r"'paged_kv_cache' .*; expected 8 slots"),
        ({"page_size": 0}, r"'page_size' is 0; it is at least 1"),
        ({"kv_layout": "DHN"}, r"'kv_layout' is 'DHN'"),
    ],
)
def test_caches_and_values_that_do_not_fit_are_refused_by_name(
    change: dict[str, Any], message: str, batch, randn, angles
) -> None:
    cos_sin, pos_ids = angles(16)
    inputs: dict[str, Any] = {
        "q_rope": randn(5, 2, 16),
        "k_rope": randn(5, 1, 16),
        "q_nope": None,
        "k_nope": None,
        "v": randn(5, 1, 16),
        "cos_sin_cache": cos_sin,
        "pos_ids": pos_ids,
        "paged_kv_cache": randn(6, 2, 4, 1, 16, dtype=E4M3),
        **batch.tables,
        "page_size": 4,
    }
    for name, value in change.items():
        made = isinstance(value, tuple)
        inputs[name] = randn(*value, dtype=inputs[name].dtype) if made else value
    with pytest.raises(ValueError, match=rf"append_paged_kv_cache: argument {message}"):
        rope_quantize_fp8_append_paged_kv_cache(**inputs)
