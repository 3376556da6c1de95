"""What the trace of rmsnorm cannot say: sizes at the edges, strides, heads, and refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.norm.rmsnorm.op import rmsnorm
from fictl.kernels.norm.rmsnorm.trace import rmsnorm as trace
from fictl.testing import assert_close

DTYPES = (torch.float16, torch.bfloat16, torch.float32)


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _reference(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    return trace.reference(x.double(), weight.double(), eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "hidden", [1, 2, 7, 8, 24, 111, 128, 129, 255, 256, 264, 1000, 1024, 1032, 2056]
)
def test_any_hidden_size(hidden: int, dtype: torch.dtype, randn) -> None:
    x, weight = randn(3, hidden, dtype=dtype), randn(hidden, dtype=dtype)
    assert_close(rmsnorm(x, weight), _reference(x, weight))


@pytest.mark.parametrize("hidden", [4096, 4097, 4100, 16384, 16392, 32768, 32776])
def test_rows_at_and_beyond_what_a_block_holds(hidden: int, randn) -> None:
    for dtype in (torch.bfloat16, torch.float32):
        x, weight = randn(1, hidden, dtype=dtype), randn(hidden, dtype=dtype)
        assert_close(rmsnorm(x, weight), _reference(x, weight))


@pytest.mark.parametrize("hidden", [8, 64, 200, 1024])
@pytest.mark.parametrize("rows", [1, 2, 15, 16, 17, 129])
def test_any_number_of_rows(rows: int, hidden: int, randn) -> None:
    x, weight = randn(rows, hidden, dtype=torch.half), randn(hidden, dtype=torch.half)
    assert_close(rmsnorm(x, weight), _reference(x, weight))


@pytest.mark.parametrize("shape", [(0, 64), (4, 0), (0, 8, 64), (8, 0, 64)])
def test_no_elements_are_no_work(shape: tuple[int, ...], randn) -> None:
    x = randn(*shape)
    assert rmsnorm(x, randn(shape[-1])).shape == shape


@pytest.mark.parametrize("hidden", [64, 100, 1024, 5000, 20_000])
def test_out_is_returned_and_may_be_the_input(hidden: int, randn) -> None:
    x, weight = randn(2, hidden), randn(hidden)
    expected = _reference(x, weight)
    assert rmsnorm(x, weight, out=x) is x
    assert_close(x, expected)


@pytest.mark.parametrize("hidden", [128, 1024])
def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(hidden: int, randn) -> None:
    x, weight = randn(37, hidden, dtype=torch.half), randn(hidden, dtype=torch.half)
    together = rmsnorm(x, weight)
    for row in (0, 1, 36):
        assert torch.equal(rmsnorm(x[row : row + 1], weight), together[row : row + 1])


@pytest.mark.parametrize("hidden", [96, 1024, 4100])
def test_the_result_is_rounded_once(hidden: int, randn) -> None:
    x, weight = randn(2, hidden, dtype=torch.half), randn(hidden, dtype=torch.half)
    got, want = rmsnorm(x, weight).double(), _reference(x, weight)
    torch.testing.assert_close(got, want, rtol=1.01 * 2**-11, atol=2**-25)


def test_squares_beyond_the_range_of_half_are_no_problem(randn, device: str) -> None:
    x, weight = torch.full((2, 64), 6e4, device=device).half(), randn(64, dtype=torch.half)
    assert_close(rmsnorm(x, weight), _reference(x, weight))


def test_eps_is_added_under_the_root(randn) -> None:
    x, weight = 1e-3 * randn(4, 64), randn(64)
    assert_close(rmsnorm(x, weight, 0.5), _reference(x, weight, 0.5))
    assert bool((rmsnorm(torch.zeros_like(x), weight) == 0).all())


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_any_of_the_tensors_may_be_misaligned(offset: int, randn) -> None:
    space = [randn(2 * 256 + 8, dtype=torch.half) for _ in range(3)]
    for misaligned in range(3):
        starts = [offset if i == misaligned else 0 for i in range(3)]
        x, out = (space[i][starts[i] :][:512].view(2, 256) for i in (0, 1))
        weight = space[2][starts[2] :][:256]
        rmsnorm(x, weight, out=out)
        assert_close(out, _reference(x, weight))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, 0],
        lambda x: x[:, :2],
        lambda x: x[::2],
        lambda x: x[..., :40],
        lambda x: x[..., 3:20],
        lambda x: x.transpose(0, 1),
        lambda x: x[:, :2].transpose(0, 1),
        lambda x: x[:1, :1].expand(6, 1, 96),
        lambda x: x[:, :1].expand(6, 3, 96),
        lambda x: x[:1].expand(6, 4, 96),
        lambda x: x[:1, 0],
        lambda x: x[:1, :1],
    ],
    ids=[
        "rows", "heads", "tokens", "aligned columns", "columns", "transposed", "heads transposed",
        "one row", "one head", "one token", "a row", "a head",
    ],
)  # fmt: skip
def test_rows_at_any_pitch(view, randn, device: str) -> None:
    x = view(randn(6, 4, 96).bfloat16())
    weight = randn(x.shape[-1], dtype=torch.bfloat16)
    assert_close(rmsnorm(x, weight), _reference(x, weight))
    contiguous = torch.empty(x.shape, device=device, dtype=x.dtype)
    assert_close(rmsnorm(x, weight, out=contiguous), _reference(x, weight))


def test_heads_are_normalized_within_a_packed_qkv(randn) -> None:
    qkv = randn(5, 8, 64, dtype=torch.half)
    before, q, weight = qkv.clone(), qkv[:, :6], randn(64, dtype=torch.half)
    rmsnorm(q, weight, out=q)
    assert_close(q, _reference(before[:, :6], weight))
    assert torch.equal(qkv[:, 6:], before[:, 6:])


@pytest.mark.parametrize("pitch", [61, 64])
def test_a_pitched_output_leaves_its_gaps_alone(pitch: int, randn, device: str) -> None:
    x, weight = randn(8, 40), randn(40)
    whole = torch.full((8, pitch), 7.0, device=device)
    rmsnorm(x, weight, out=whole[:, :40])
    assert_close(whole[:, :40], _reference(x, weight))
    assert bool((whole[:, 40:] == 7.0).all())


@pytest.mark.parametrize("pitch", [61, 64])
def test_a_pitched_input_gives_a_dense_output(pitch: int, randn) -> None:
    x, weight = randn(8, pitch)[:, :40], randn(40)
    out = rmsnorm(x, weight)
    assert out.is_contiguous()
    assert_close(out, _reference(x, weight))


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn) -> None:
    x, weight = randn(64, 1024), randn(1024)
    with_pdl, without = x.clone(), x.clone()
    for _ in range(20):
        rmsnorm(with_pdl, weight, out=with_pdl, enable_pdl=True)
        rmsnorm(without, weight, out=without, enable_pdl=False)
    assert torch.equal(with_pdl, without)


@pytest.mark.parametrize("shape", [(8,), (2, 2, 2, 8)])
def test_other_than_two_or_three_dimensions_are_refused(shape: tuple[int, ...], randn) -> None:
    with pytest.raises(ValueError, match=r"rmsnorm: .*'input' has shape .*tokens, heads, hidden"):
        rmsnorm(randn(*shape), randn(8))


def test_a_weight_of_another_shape_or_dtype_is_refused_by_name(randn) -> None:
    x = randn(4, 8)
    with pytest.raises(ValueError, match=r"rmsnorm: .*'weight' has 9 elements, .*'input' has 8"):
        rmsnorm(x, randn(9))
    with pytest.raises(ValueError, match=r"rmsnorm: .*'weight' has shape \(1, 8\)"):
        rmsnorm(x, randn(1, 8))
    with pytest.raises(ValueError, match=r"rmsnorm: .*'weight' is not contiguous"):
        rmsnorm(x, randn(16)[::2])
    with pytest.raises(TypeError, match=r"rmsnorm: .*'weight' has dtype float16"):
        rmsnorm(x, randn(8).half())


def test_another_shape_or_dtype_of_out_is_refused_by_name(randn) -> None:
    x, weight = randn(4, 8), randn(8)
    with pytest.raises(ValueError, match=r"rmsnorm: .*'out'.*\(4, 9\)"):
        rmsnorm(x, weight, out=randn(4, 9))
    with pytest.raises(TypeError, match=r"rmsnorm: .*'out'.*float16"):
        rmsnorm(x, weight, out=randn(4, 8).half())


def test_elements_that_are_no_neighbours_are_refused_in_words(randn) -> None:
    apart, x, weight = randn(8, 4).t(), randn(4, 8), randn(8)
    with pytest.raises(ValueError, match=r"rmsnorm: .*'input' has strides .*input.contiguous\(\)"):
        rmsnorm(apart, weight)
    with pytest.raises(ValueError, match=r"rmsnorm: .*'out' has strides .*neighbours"):
        rmsnorm(x, weight, out=apart)


def test_an_out_whose_rows_overlap_is_refused(randn) -> None:
    with pytest.raises(ValueError, match=r"rmsnorm: .*'out' .*strides \(0, 1\): its rows overlap"):
        rmsnorm(randn(4, 8), randn(8), out=randn(1, 8).expand(4, 8))


def test_an_unsupported_dtype_names_the_accepted_ones(randn) -> None:
    x, weight = randn(4, 8).double(), randn(8).double()
    with pytest.raises(TypeError, match=r"rmsnorm: .*'input'.*float64.*float16.*bfloat16.*float32"):
        rmsnorm(x, weight)
