"""What the traces of the gated activations cannot say: ranks, strides, edges, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.kernels.activation.act_and_mul import trace
from fictl.kernels.activation.act_and_mul.op import gelu_and_mul, gelu_tanh_and_mul, silu_and_mul
from fictl.testing import assert_close

FUNCTIONS = (silu_and_mul, gelu_and_mul, gelu_tanh_and_mul)
DTYPES = (torch.float16, torch.bfloat16, torch.float32)

every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _expected(function: Callable[..., Any], x: torch.Tensor) -> torch.Tensor:
    return getattr(trace, function.__name__).reference(x.double())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hidden", [1, 2, 4, 7, 12, 24, 100, 511, 514, 516, 1023, 1026, 1028, 1032])
def test_any_hidden_size(hidden: int, dtype: torch.dtype, randn) -> None:
    for rows in (1, 5, 130):
        x = randn(rows, 2 * hidden, dtype=dtype)
        assert_close(silu_and_mul(x), _expected(silu_and_mul, x))


@pytest.mark.parametrize("shape", [(16,), (1, 16), (2, 3, 16), (2, 1, 3, 5, 24)])
def test_any_number_of_leading_dimensions(shape: tuple[int, ...], randn) -> None:
    x = randn(*shape, dtype=torch.half)
    assert_close(silu_and_mul(x), _expected(silu_and_mul, x))


@pytest.mark.parametrize("shape", [(0,), (0, 64), (4, 0), (2, 0, 64)])
def test_no_elements_are_no_work(shape: tuple[int, ...], randn) -> None:
    assert silu_and_mul(randn(*shape)).shape == (*shape[:-1], shape[-1] // 2)


@every_function
@pytest.mark.parametrize("dtype", DTYPES)
def test_gates_of_every_size(function, dtype: torch.dtype, device: str) -> None:
    """A large up brings back what a gate far below zero has left."""
    gate = torch.linspace(-14, 14, 4096, device=device)
    x = torch.stack([gate, torch.full_like(gate, 4096.0)], dim=-1).to(dtype)
    assert_close(function(x), _expected(function, x))


@every_function
def test_gates_at_the_end_of_the_range(function, device: str) -> None:
    gate = torch.tensor([-3e38, -1e20, -200.0, 200.0, 1e20, 3e38, torch.inf, torch.nan, -0.0])
    x = torch.stack([gate, torch.ones_like(gate)], dim=-1).to(device)
    assert_close(function(x), _expected(function, x))


@every_function
def test_the_result_is_rounded_once(function, randn) -> None:
    x = randn(8, 1024, dtype=torch.half)
    got, want = function(x).double(), _expected(function, x)
    torch.testing.assert_close(got, want, rtol=1.02 * 2**-11, atol=2**-24)


@pytest.mark.parametrize("half", [slice(None, 40), slice(40, None)], ids=["gate", "up"])
def test_out_is_returned_and_may_lie_on_a_half_of_the_input(half: slice, randn) -> None:
    x = randn(6, 80, dtype=torch.bfloat16)
    before, out = x.clone(), x[:, half]
    assert silu_and_mul(x, out) is out
    assert_close(out, _expected(silu_and_mul, before))
    other = slice(40, None) if half.start is None else slice(None, 40)
    assert torch.equal(x[:, other], before[:, other])


@pytest.mark.parametrize("offset", [1, 2, 4])
def test_either_of_the_tensors_may_be_misaligned(offset: int, randn) -> None:
    for misaligned in range(2):
        starts = [offset if i == misaligned else 0 for i in range(2)]
        x = randn(2 * 512 + 8, dtype=torch.half)[starts[0] :][:1024].view(4, 256)
        out = randn(512 + 8, dtype=torch.half)[starts[1] :][:512].view(4, 128)
        silu_and_mul(x, out=out)
        assert_close(out, _expected(silu_and_mul, x))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[::2, 0],
        lambda x: x[..., :64],
        lambda x: x[..., 4:12],
        lambda x: x[..., 3:21],
        lambda x: x[:, 1],
        lambda x: x[:1, :1].expand(5, 1, 96),
        lambda x: x[:1, 2:3],
    ],
    ids=["tokens", "aligned", "half aligned", "odd", "one of each", "repeated", "single"],
)
def test_rows_at_any_one_pitch(view, randn) -> None:
    x = view(randn(6, 4, 96, dtype=torch.bfloat16))
    assert_close(silu_and_mul(x), _expected(silu_and_mul, x))


@pytest.mark.parametrize("pitch", [41, 44, 48])
def test_a_pitched_output_leaves_its_gaps_alone(pitch: int, randn, device: str) -> None:
    x = randn(8, 80)
    whole = torch.full((8, pitch), 7.0, device=device)
    silu_and_mul(x, out=whole[:, :40])
    assert_close(whole[:, :40], _expected(silu_and_mul, x))
    assert bool((whole[:, 40:] == 7.0).all())


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn) -> None:
    x = randn(64, 256)
    with_pdl, without = x.clone(), x.clone()
    for _ in range(8):
        silu_and_mul(with_pdl, out=with_pdl[:, :128], enable_pdl=True)
        silu_and_mul(without, out=without[:, :128], enable_pdl=False)
    assert torch.equal(with_pdl, without)


@every_function
def test_an_odd_last_dimension_is_refused(function, randn) -> None:
    name = function.__name__
    with pytest.raises(ValueError, match=rf"{name}: .*'input' has shape \(4, 9\).* must be even"):
        function(randn(4, 9))


def test_another_shape_or_dtype_of_out_is_refused_by_name(randn) -> None:
    x = randn(2, 4, 8)
    for shape in ((2, 4, 8), (2, 5, 4), (8, 4), (2, 4, 4, 1), ()):
        with pytest.raises(ValueError, match=r"silu_and_mul: .*'out' has shape .*half"):
            silu_and_mul(x, out=randn(*shape))
    with pytest.raises(TypeError, match=r"silu_and_mul: .*'out'.*float16"):
        silu_and_mul(x, out=randn(2, 4, 4).half())


def test_what_is_no_rows_is_refused_in_words(randn) -> None:
    x, groups = randn(8, 16), randn(3, 4, 16)[:, :2]
    with pytest.raises(ValueError, match=r"'input' .*one stride; pass input.contiguous\(\)"):
        silu_and_mul(groups)
    with pytest.raises(ValueError, match=r"'input' .*strides \(1, 8\).*input.contiguous\(\)"):
        silu_and_mul(randn(16, 8).t())
    with pytest.raises(ValueError, match=r"'out' .*strides .*out.contiguous\(\)"):
        silu_and_mul(x, out=randn(8, 8).t())
    with pytest.raises(ValueError, match=r"'out' .*its rows overlap"):
        silu_and_mul(x, out=randn(1, 8).expand(8, 8))


def test_an_unsupported_dtype_names_the_accepted_ones(randn) -> None:
    with pytest.raises(TypeError, match=r"'input'.*float64.*float16.*bfloat16.*float32"):
        silu_and_mul(randn(4, 8).double())


@pytest.mark.needs_gpu
def test_a_cuda_graph_replays_it(randn) -> None:
    x, later = randn(64, 1024), randn(64, 1024)
    out = silu_and_mul(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        silu_and_mul(x, out=out)
    x.copy_(later)
    graph.replay()
    torch.cuda.synchronize()
    assert_close(out, _expected(silu_and_mul, later))


@pytest.mark.needs_gpu
@pytest.mark.parametrize("hidden", [8192, 8193])
def test_more_than_2_to_the_31_elements(hidden: int) -> None:
    rows = (1 << 31) // hidden + 3
    if torch.cuda.mem_get_info()[0] < 2 * 3 * rows * hidden + (1 << 30):
        pytest.skip("needs more free GPU memory")
    x = torch.ones(rows, 2 * hidden, device="cuda", dtype=torch.half)
    x[-1].normal_()
    out = silu_and_mul(x)
    assert_close(out[-1], _expected(silu_and_mul, x[-1]))
    assert bool((out[:-1] == out[0, 0]).all())
