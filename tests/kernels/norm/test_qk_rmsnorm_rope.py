"""What the trace of fused_qk_rmsnorm_rope cannot say: heads, pairs, YARN, fp8, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.kernels.norm.qk_rmsnorm_rope.op import fused_qk_rmsnorm_rope
from fictl.kernels.norm.qk_rmsnorm_rope.trace import fused_qk_rmsnorm_rope as trace
from fictl.testing import assert_close

Call = dict[str, Any]
YARN = {"factor": 8.0, "low": 3.5, "high": 20.0, "attention_factor": 1.3}
FP8 = {"output_fp8": True, "output_quant_scale": 3.0, "v_quant_scale": 5.0}


@pytest.fixture
def make(device: str) -> Callable[..., Call]:
    """Arguments of a call; a video is of 12 patches."""

    def of(
        videos: int = 2,
        heads: tuple[int, int, int] = (3, 2, 1),
        channels: tuple[int, int, int] = (16, 24, 24),
        dtype: torch.dtype = torch.bfloat16,
        patches: tuple[int, int, int] = (2, 3, 2),
        **others: Any,
    ) -> Call:
        q, k, v = heads
        dim, tokens = sum(channels), videos * patches[0] * patches[1] * patches[2]
        call: Call = {
            "qkv": torch.randn(tokens, (q + k + v) * dim, device=device).to(dtype),
            "q_weight": torch.randn(q * dim, device=device).to(dtype),
            "k_weight": torch.randn(k * dim, device=device).to(dtype),
            **dict(zip(("ppf", "pph", "ppw"), patches, strict=True)),
            "num_frame_channels": channels[0],
            "num_height_channels": channels[1],
            "num_width_channels": channels[2],
            "num_heads_q": q,
            "num_heads_k": k,
            "num_heads_v": v,
            "head_dim": dim,
        }
        return call | others

    return of


def _expected(call: Call) -> tuple[torch.Tensor, ...]:
    exact = {n: x.double() if isinstance(x, torch.Tensor) else x for n, x in call.items()}
    return trace.reference(**{n: x for n, x in exact.items() if n not in trace.outputs})


def _check(call: Call) -> tuple[torch.Tensor, ...]:
    got = fused_qk_rmsnorm_rope(**call)
    for name, result, expected in zip("qkv", got, _expected(call), strict=True):
        saturates = result.dtype is torch.float8_e4m3fn
        assert_close(result, expected.clamp(-448, 448) if saturates else expected, name)
    return got


@pytest.mark.parametrize("interleave", [False, True])
@pytest.mark.parametrize("channels", [(20, 22, 22), (44, 42, 42), (128, 0, 0), (0, 64, 192)])
@pytest.mark.parametrize("others", [{}, YARN, FP8], ids=["plain", "yarn", "fp8"])
def test_every_head_size_and_way_of_pairing(
    channels: tuple[int, int, int], interleave: bool, others: Call, make
) -> None:
    for dtype in (torch.bfloat16, torch.float16):
        _check(make(channels=channels, dtype=dtype, interleave=interleave, **others))


@pytest.mark.parametrize(
    "heads", [(1, 1, 1), (8, 1, 1), (5, 7, 9), (33, 2, 17), (2, 2, 0), (2, 0, 2), (0, 0, 3)]
)
def test_any_number_of_heads(heads: tuple[int, int, int], make) -> None:
    for others in ({}, FP8):
        _check(make(videos=1, heads=heads, **others))


@pytest.mark.parametrize("dim", [64, 256])
def test_as_many_heads_as_a_block_holds(dim: int, make) -> None:
    most = 16384 // dim
    sizes = {"videos": 1, "patches": (1, 1, 2), "channels": (dim, 0, 0)}
    _check(make(heads=(most, 1, most), **sizes))
    with pytest.raises(ValueError, match=rf"'num_heads_k' is {most + 1}; .* 0 to {most}"):
        fused_qk_rmsnorm_rope(**make(heads=(1, most + 1, 1), **sizes))


def test_no_videos_are_no_work(make) -> None:
    q, k, v = fused_qk_rmsnorm_rope(**make(videos=0))
    assert (q.shape, k.shape, v.shape) == ((0, 3, 64), (0, 2, 64), (0, 1, 64))


def test_videos_may_have_a_dimension_of_their_own(make) -> None:
    call = make(videos=3)
    together = _check(call)
    apart = _check(call | {"qkv": call["qkv"].view(3, 12, -1)})
    for one, other in zip(together, apart, strict=True):
        assert other.shape == (3, 12, *one.shape[1:])
        assert torch.equal(one, other.view(one.shape))


@pytest.mark.parametrize("fp8", [False, True])
def test_without_normalization_weights_do_not_matter(fp8: bool, make) -> None:
    call = make(is_qk_norm=False, **(FP8 if fp8 else {}))
    call["q_weight"].fill_(torch.nan)
    _check(call)


@pytest.mark.parametrize("patches", [(999, 1, 1), (1, 999, 1), (1, 1, 999)])
def test_patches_far_off_turn_by_the_right_angle(patches: tuple[int, int, int], make) -> None:
    _check(make(videos=1, heads=(1, 0, 0), patches=patches))


def test_a_ramp_of_no_width_is_a_step(make) -> None:
    _check(make(factor=4.0, low=2.0, high=2.0))
    _check(make(factor=4.0))


def test_eps_is_added_under_the_root(make) -> None:
    call = make(eps=0.5)
    call["qkv"] *= 0.01
    _check(call)


def test_v_is_copied_bit_by_bit(make) -> None:
    call = make(dtype=torch.float16)
    v = call["qkv"][:, 5 * 64 :]
    v.copy_(torch.randint(-(2**15), 2**15, v.shape, dtype=torch.int16).view(torch.half))
    got = fused_qk_rmsnorm_rope(**call)[2]
    assert torch.equal(got.view(torch.int16).flatten(1), v.view(torch.int16))


def test_what_fp8_cannot_hold_is_the_largest_that_it_can(make) -> None:
    q, _, v = _check(make(output_fp8=True, output_quant_scale=1e4, v_quant_scale=1e4))
    assert float(q.float().abs().max()) == float(v.float().abs().max()) == 448.0


def test_results_go_where_they_are_wanted(make, device: str) -> None:
    for others, dtype in (({}, torch.bfloat16), (FP8, torch.float8_e4m3fn)):
        call = make(**others)
        outputs = [torch.empty(24, n, 64, device=device, dtype=dtype) for n in (3, 2, 1)]
        named = dict(zip(("q_out", "k_out", "v_out"), outputs, strict=True))
        for got, out in zip(_check(call | named), outputs, strict=True):
            assert got is out


def test_pdl_does_not_change_what_is_computed(make) -> None:
    call = make()
    with_pdl = fused_qk_rmsnorm_rope(**call, enable_pdl=True)
    without = fused_qk_rmsnorm_rope(**call, enable_pdl=False)
    assert all(torch.equal(one, other) for one, other in zip(with_pdl, without, strict=True))


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"ppw": 0}, "'ppw' is 0; accepted: 1 to"),
        ({"ppw": 5}, r"'qkv' has shape \(24, 384\), .* ppf \* pph \* ppw = 30 tokens"),
        ({"num_width_channels": 23}, "'num_width_channels' is 23; .* an even number from 0"),
        (
            {"num_width_channels": 22},
            "'num_frame_channels' is 16: .* makes 62 and not head_dim, 64",
        ),
        ({"num_heads_v": 2}, r"'qkv' has shape \(24, 384\); a token of 7 heads of 64 has 448"),
        ({"base": 0.0}, "'base' is 0; it is a positive number"),
        ({"factor": -1.0}, "'factor' is -1; it is a positive number"),
        ({"attention_factor": 1.5}, "'attention_factor' is 1.5; without YARN"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_by_name(others: Call, message: str, make) -> None:
    with pytest.raises(ValueError, match=f"fused_qk_rmsnorm_rope: argument {message}"):
        fused_qk_rmsnorm_rope(**make(**others))


def test_another_head_size_names_the_accepted_ones(make) -> None:
    with pytest.raises(NotImplementedError, match="'head_dim' is 96; accepted: 64, 128, 256"):
        fused_qk_rmsnorm_rope(**make(channels=(32, 32, 32)))


def test_tensors_that_do_not_fit_are_refused_by_name(make, device: str) -> None:
    call = make()
    qkv, weight = call["qkv"], call["q_weight"]
    refused: list[tuple[str, torch.Tensor, str]] = [
        ("qkv", qkv.view(2, 2, 6, 384), r"has shape \(2, 2, 6, 384\)"),
        ("qkv", qkv.view(4, 6, 384), "a video .* = 12 tokens"),
        ("qkv", qkv.new_empty(24, 400)[:, :384], "is not contiguous"),
        ("qkv", qkv.new_empty(24 * 384 + 1)[1:].view(24, 384), "not aligned to 16 bytes"),
        ("q_weight", weight[:64], r"has shape \(64,\); 3 heads of 64 have 192 weights"),
        ("k_weight", weight.new_empty(256)[::2], "is not contiguous"),
        ("q_out", qkv.new_empty(24, 192), r"has shape \(24, 192\), .* 3 heads of 64"),
        ("v_out", qkv.new_empty(24, 2, 64)[:, :1], "is not contiguous"),
    ]
    for name, tensor, message in refused:
        with pytest.raises(ValueError, match=f"argument '{name}' .*{message}"):
            fused_qk_rmsnorm_rope(**call | {name: tensor})


def test_other_dtypes_are_refused_by_name(make, device: str) -> None:
    call = make()
    with pytest.raises(TypeError, match=r"'qkv' has dtype float32; accepted: float16, bfloat16"):
        fused_qk_rmsnorm_rope(**make(dtype=torch.float32))
    with pytest.raises(TypeError, match="'k_weight' has dtype float16"):
        fused_qk_rmsnorm_rope(**call | {"k_weight": call["k_weight"].half()})
    out = torch.empty(24, 3, 64, device=device, dtype=torch.bfloat16)
    with pytest.raises(TypeError, match="'q_out' has dtype bfloat16; with output_fp8=True"):
        fused_qk_rmsnorm_rope(**call, output_fp8=True, q_out=out)
