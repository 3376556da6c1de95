"""Tests of concat_mla_k beside its trace: any bits, strides, sizes and dtypes, refusals."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from fictl.kernels.elementwise.concat_mla_k.op import concat_mla_k

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float8_e5m2, torch.int64)
Bits = Callable[..., torch.Tensor]


@pytest.fixture
def bits(device: str) -> Bits:
    """Tensors of any bits, NaN of all kinds too."""

    def make(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        size = torch.empty((), dtype=dtype).element_size()
        room = torch.randint(256, (math.prod(shape) * size,), device=device)
        return room.to(torch.uint8).view(dtype).view(shape)

    return make


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(*(x.flatten().view(torch.uint8) for x in (a, b)))


def _check(k: torch.Tensor, k_nope: torch.Tensor, k_rope: torch.Tensor) -> None:
    concat_mla_k(k, k_nope, k_rope)
    heads = k_rope.expand(-1, k.shape[1], -1)
    assert _same(k[..., : k_nope.shape[-1]], k_nope)
    assert _same(k[..., k_nope.shape[-1] :], heads)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("tokens", "heads", "nope", "rope"),
    [(1, 1, 1, 1), (3, 2, 128, 64), (2, 7, 24, 8), (5, 3, 5, 2), (2, 1, 128, 0), (2, 3, 0, 64)],
)
def test_any_sizes(
    tokens: int, heads: int, nope: int, rope: int, dtype: torch.dtype, bits: Bits
) -> None:
    k = bits(tokens, heads, nope + rope, dtype=dtype)
    _check(k, bits(tokens, heads, nope, dtype=dtype), bits(tokens, 1, rope, dtype=dtype))


def test_all_heads_of_a_model(bits: Bits) -> None:
    _check(bits(2, 128, 192), bits(2, 128, 128), bits(2, 1, 64))


def test_tokens_that_share_a_block_and_many_of_them(bits: Bits) -> None:
    _check(bits(301, 1, 24), bits(301, 1, 16), bits(301, 1, 8))


@pytest.mark.parametrize("shape", [(0, 4, 8), (4, 0, 8), (4, 4, 0)])
def test_no_elements_are_no_work(shape: tuple[int, int, int], bits: Bits) -> None:
    tokens, heads, dim = shape
    concat_mla_k(bits(*shape), bits(tokens, heads, dim // 2), bits(tokens, 1, dim // 2))


def test_views_of_wider_projections(bits: Bits) -> None:
    kv = bits(5, 4, 128 + 96)  # Keys and values of a projection.
    latent = bits(5, 512 + 64)
    whole = bits(5, 6, 256)
    before = whole.clone()
    _check(whole[:, 1:5, :192], kv[..., :128], latent[:, None, 512:])
    assert _same(whole[:, ::5], before[:, ::5])
    assert _same(whole[..., 192:], before[..., 192:])


def test_heads_before_tokens(bits: Bits) -> None:
    _check(bits(3, 5, 24).transpose(0, 1), bits(3, 5, 16).transpose(0, 1), bits(5, 1, 8))


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, bits: Bits) -> None:
    spaces = [bits(2 * 3 * 24 + 8, dtype=torch.half) for _ in range(3)]
    for misaligned in range(3):
        starts = [offset if i == misaligned else 0 for i in range(3)]
        k, nope, rope = (space[start:] for space, start in zip(spaces, starts, strict=True))
        _check(k[:144].view(2, 3, 24), nope[:96].view(2, 3, 16), rope[:16].view(2, 1, 8))


def test_one_token_for_all(bits: Bits) -> None:
    _check(bits(4, 2, 24), bits(1, 1, 16).expand(4, 2, 16), bits(1, 1, 8).expand(4, 1, 8))


def test_in_place_where_the_heads_lie_in_k_already(bits: Bits) -> None:
    k = bits(3, 4, 24)
    _check(k, k[..., :16].clone(), bits(3, 1, 8))
    before = k.clone()
    concat_mla_k(k, k[..., :16], k[:, :1, 16:].clone())
    assert _same(k, before)


def test_what_does_not_fit_is_refused_by_name(bits: Bits) -> None:
    k, nope, rope = bits(4, 3, 24), bits(4, 3, 16), bits(4, 1, 8)
    of = "concat_mla_k: .*"
    for wrong in (bits(4, 2, 16), bits(5, 3, 16)):
        with pytest.raises(ValueError, match=rf"{of}'k_nope' has shape .*pass k_nope as \(4, 3, "):
            concat_mla_k(k, wrong, rope)
    with pytest.raises(ValueError, match=rf"{of}'k_rope' has shape .*as \(4, 1, dim\)"):
        concat_mla_k(k, nope, bits(4, 3, 8))
    with pytest.raises(ValueError, match=rf"{of}'k' has heads of 24 .* 16 and 'k_rope' of 9"):
        concat_mla_k(k, nope, bits(4, 1, 9))
    with pytest.raises(TypeError, match=rf"{of}'k_rope' has dtype float16"):
        concat_mla_k(k, nope, rope.half())
    with pytest.raises(ValueError, match=rf"{of}'k_nope' has shape \(4, 48\)"):
        concat_mla_k(k, nope.flatten(1), rope)
    with pytest.raises(ValueError, match=rf"{of}'k_nope' has strides .*k_nope.contiguous\(\)"):
        concat_mla_k(k, bits(4, 3, 32)[..., ::2], rope)
    with pytest.raises(ValueError, match=rf"{of}'k' .*rows overlap"):
        concat_mla_k(bits(4, 1, 24).expand(4, 3, 24), nope, rope)
    with pytest.raises(ValueError, match=rf"{of}'backend' is 'cub'; accepted: default, cake"):
        concat_mla_k(k, nope, rope, backend="cub")


@pytest.mark.needs_gpu
def test_a_long_prompt(bits: Bits) -> None:
    _check(bits(32768, 128, 192), bits(32768, 128, 128), bits(32768, 1, 64))
