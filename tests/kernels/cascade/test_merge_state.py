"""What the traces of the merges cannot say: empty states, strides, masks, and refusals."""

from __future__ import annotations

import math

import pytest
import torch

from fictl.kernels.cascade.merge_state import trace
from fictl.kernels.cascade.merge_state.op import merge_state, merge_state_in_place, merge_states
from fictl.testing import assert_close

DTYPES = (torch.float16, torch.bfloat16, torch.float32)


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _check(merged: tuple[torch.Tensor, torch.Tensor], *states: torch.Tensor) -> None:
    """Against the reference of two states, or of all that are in one tensor."""
    template = trace.merge_state if len(states) == 4 else trace.merge_states
    expected = template.reference(*(x.double() for x in states))
    for actual, want in zip(merged, expected, strict=True):
        assert_close(actual, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("head_dim", [1, 2, 7, 8, 40, 80, 127, 256, 264, 576])
def test_any_head_dim(head_dim: int, dtype: torch.dtype, randn) -> None:
    v_a, v_b = randn(3, 2, head_dim, dtype=dtype), randn(3, 2, head_dim, dtype=dtype)
    s_a, s_b = randn(3, 2), randn(3, 2)
    _check(merge_state(v_a, s_a, v_b, s_b), v_a, s_a, v_b, s_b)
    v, s = torch.stack((v_a, v_b), 1), torch.stack((s_a, s_b), 1)
    _check(merge_states(v, s), v, s)


@pytest.mark.parametrize("positions", [1, 15, 17, 33])
def test_any_number_of_rows(positions: int, randn) -> None:
    states = (randn(positions, 3, 64).half(), randn(positions, 3)) * 2
    _check(merge_state(*states), *states)


@pytest.mark.parametrize("states", [1, 2, 3, 4, 5, 8, 9, 63, 65, 300])
def test_any_number_of_states(states: int, randn) -> None:
    for head_dim in (8, 64, 512):
        v, s = randn(2, states, 1, head_dim, dtype=torch.half), 8 * randn(2, states, 1)
        _check(merge_states(v, s), v, s)


def test_many_states_on_many_rows_of_a_block(randn) -> None:
    for heads, head_dim in ((1, 8), (5, 8), (3, 24), (2, 1)):
        v, s = randn(7, 70, heads, head_dim, dtype=torch.half), randn(7, 70, heads)
        _check(merge_states(v, s), v, s)


@pytest.mark.parametrize("shape", [(0, 4, 64), (4, 0, 64)])
def test_no_rows_are_no_work(shape: tuple[int, ...], randn) -> None:
    v, s = randn(*shape), randn(*shape[:2])
    assert [x.shape for x in merge_state(v, s, v, s)] == [v.shape, s.shape]
    merge_state_in_place(v, s, v, s)
    v_merged, _ = merge_states(v.unsqueeze(1), s.unsqueeze(1))
    assert v_merged.shape == shape


def test_no_states_and_states_of_no_keys_give_zeros(randn) -> None:
    v, s = randn(3, 0, 2, 64), randn(3, 0, 2)
    empty = torch.full((3, 2), -math.inf, device=v.device)
    garbage = torch.full((3, 2, 64), math.nan, device=v.device)
    for v_merged, s_merged in (
        merge_states(v, s),
        merge_state(garbage, empty, garbage, empty),
        merge_states(torch.stack([garbage] * 9, 1), torch.stack([empty] * 9, 1)),
    ):
        assert bool((v_merged == 0).all())
        assert bool((s_merged == -math.inf).all())


def test_a_state_of_no_keys_changes_nothing_whatever_it_holds(randn) -> None:
    v, s = randn(3, 2, 64, dtype=torch.half), 200 * randn(3, 2)
    garbage, empty = torch.full_like(v, math.nan), torch.full_like(s, -math.inf)
    for v_merged, s_merged in (
        merge_state(v, s, garbage, empty),
        merge_state(garbage, empty, v, s),
        merge_states(torch.stack([*[garbage] * 6, v], 1), torch.stack([*[empty] * 6, s], 1)),
    ):
        assert torch.equal(v_merged, v)
        assert torch.equal(s_merged, s)


def test_weights_beyond_the_range_of_fp32_are_no_problem(randn) -> None:
    v_a, v_b = randn(4, 2, 64), randn(4, 2, 64)
    for s_a, s_b in ((300.0, 299.0), (-300.0, -301.0), (1e30, -1e30), (0.0, -140.0)):
        s = [torch.full((4, 2), value, device=v_a.device) for value in (s_a, s_b)]
        _check(merge_state(v_a, s[0], v_b, s[1]), v_a, s[0], v_b, s[1])


@pytest.mark.parametrize("head_dim", [24, 100, 576])
@pytest.mark.parametrize("mask_dtype", [None, torch.bool, torch.uint8])
def test_in_place_where_the_mask_says(
    head_dim: int, mask_dtype: torch.dtype | None, randn, device: str
) -> None:
    states = [randn(5, 3, head_dim, dtype=torch.half), randn(5, 3)] * 2
    v, s, v_other, s_other = (x.clone() for x in states)
    mask = None
    if mask_dtype is not None:
        mask = torch.tensor([1, 0, 0, 1, 1], device=device).to(mask_dtype)
    assert merge_state_in_place(v, s, v_other, s_other, mask) is None
    expected = trace.merge_state_in_place.reference(*(x.double() for x in states), mask)
    assert_close(v, expected[0])
    assert_close(s, expected[1])
    if mask is not None:
        assert torch.equal(v[1], states[0][1])


def test_results_are_returned_and_may_be_either_state(randn) -> None:
    states = [randn(3, 2, 24), randn(3, 2), randn(3, 2, 24), randn(3, 2)]
    for at in (0, 2):
        given = [x.clone() for x in states]
        merged = merge_state(*given, v_merged=given[at], s_merged=given[at + 1])
        assert merged[0] is given[at]
        assert merged[1] is given[at + 1]
        _check(merged, *states)


def test_rows_at_a_pitch_and_misaligned_ones(randn) -> None:
    s_a, s_b = randn(6, 2), randn(6, 2)
    for view in (
        lambda x: x[..., :64],
        lambda x: x[..., 3:60],
        lambda x: x.flatten()[1 : 1 + 6 * 2 * 64].view(6, 2, 64),
    ):
        v_a, v_b, out = (view(randn(6, 2, 96, dtype=torch.half)) for _ in range(3))
        merged = merge_state(v_a, s_a, v_b, s_b, v_merged=out)
        assert merged[0] is out
        _check(merged, v_a, s_a, v_b, s_b)
        _check(merge_state(v_a, s_a, v_b, s_b), v_a, s_a, v_b, s_b)


def test_other_floating_point_s_are_converted(randn) -> None:
    v, s = randn(4, 2, 64, dtype=torch.half), randn(4, 2)
    for dtype in (torch.half, torch.double):
        other = s.to(dtype)
        _check(merge_state(v, other, v, s), v, other.float(), v, s)
        _check(merge_states(v[None], other[None]), v[None], other[None].float())
        ours, s_ours = v.clone(), s.clone()
        merge_state_in_place(ours, s_ours, v, other)
        _check((ours, s_ours), v, s, v, other.float())


def test_what_does_not_fit_is_refused_by_name(randn) -> None:
    v, s = randn(4, 2, 64), randn(4, 2)
    with pytest.raises(ValueError, match=r"merge_state: .*'v_a' has shape \(2, 64\)"):
        merge_state(v[0], s[0], v[0], s[0])
    with pytest.raises(ValueError, match=r"merge_state: .*'v_a' has shape \(4, 2, 0\)"):
        merge_state(v[..., :0], s, v[..., :0], s)
    with pytest.raises(ValueError, match=r"merge_state: .*'s_b' has shape \(4, 3\)"):
        merge_state(v, s, v, randn(4, 3))
    with pytest.raises(ValueError, match=r"merge_state: .*'v_b' has shape \(4, 2, 32\)"):
        merge_state(v, s, v[..., :32], s)
    with pytest.raises(TypeError, match=r"merge_state: .*'v_b' has dtype float16"):
        merge_state(v, s, v.half(), s)
    with pytest.raises(TypeError, match=r"merge_state: .*'s_a' has dtype int32; .*float32"):
        merge_state(v, s.int(), v, s)
    with pytest.raises(ValueError, match=r"merge_state: .*'s_b' is not contiguous"):
        merge_state(v, s, v, randn(2, 4).t())
    with pytest.raises(ValueError, match=r"merge_state: .*'v_b' .*v_b.contiguous\(\)"):
        merge_state(v, s, randn(4, 64, 2).transpose(1, 2), s)
    with pytest.raises(ValueError, match=r"merge_state: .*'v_merged' .*rows overlap"):
        merge_state(v, s, v, s, v_merged=randn(1, 1, 64).expand(4, 2, 64))
    with pytest.raises(TypeError, match=r"merge_state: .*'v_a' has dtype float64; .*bfloat16"):
        merge_state(v.double(), s, v.double(), s)


def test_in_place_and_of_many_refuse_by_name_too(randn) -> None:
    v, s = randn(4, 2, 64), randn(4, 2)
    with pytest.raises(TypeError, match=r"merge_state_in_place: .*'s' has dtype float16"):
        merge_state_in_place(v, s.half(), v, s)
    with pytest.raises(ValueError, match=r"merge_state_in_place: .*'mask' .*4 positions"):
        merge_state_in_place(v, s, v, s, torch.ones(3, dtype=torch.bool, device=v.device))
    with pytest.raises(TypeError, match=r"merge_state_in_place: .*'mask' has dtype int32"):
        merge_state_in_place(v, s, v, s, torch.ones(4, dtype=torch.int32, device=v.device))
    with pytest.raises(ValueError, match=r"merge_states: .*'v' has shape \(4, 2, 64\)"):
        merge_states(v, s)
    with pytest.raises(ValueError, match=r"merge_states: .*'s' has shape \(1, 4, 2\)"):
        merge_states(v[:, None], s[None])
    with pytest.raises(ValueError, match=r"merge_states: .*'v_merged' has shape \(4, 2, 63\)"):
        merge_states(v[:, None], s[:, None], v_merged=randn(4, 2, 63))


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements(randn) -> None:
    positions, heads, head_dim = (1 << 18) + 3, 64, 128
    v = torch.ones(positions, heads, head_dim, device="cuda", dtype=torch.half)
    if torch.cuda.mem_get_info()[0] < 4 * v.numel() + (1 << 30):
        pytest.skip("needs more free GPU memory")
    s = torch.zeros(positions, heads, device="cuda")
    v[-2:], s[-2:] = randn(2, heads, head_dim, dtype=torch.half), randn(2, heads)
    other, s_other = v.flip(1), s.flip(1)
    merged = merge_state(v, s, other, s_other)
    ends = [x[-3:] for x in (*merged, v, s, other, s_other)]
    _check((ends[0], ends[1]), *ends[2:])
    assert bool((merged[0][:-2] == 1).all())
