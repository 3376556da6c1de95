"""What the traces of layernorm cannot say: sizes at the edges, strides, fp8 types, and refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.norm.layernorm.op import layernorm, layernorm_quant
from fictl.kernels.norm.layernorm.trace import layernorm as trace
from fictl.testing import assert_close

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _reference(
    x: torch.Tensor, gemma: torch.Tensor, beta: torch.Tensor, eps: float = 1e-6
) -> torch.Tensor:
    return trace.reference(x.double(), gemma.double(), beta.double(), eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("hidden", [1, 4, 7, 60, 64, 68, 129, 512, 516, 1024, 1028, 2055])
def test_any_hidden_size(hidden: int, dtype: torch.dtype, randn) -> None:
    x, gemma, beta = randn(3, hidden, dtype=dtype), randn(hidden), randn(hidden)
    assert_close(layernorm(x, gemma, beta), _reference(x, gemma, beta))


@pytest.mark.parametrize("hidden", [4096, 16384, 16388, 32768, 32772])
def test_rows_at_and_beyond_what_a_block_holds(hidden: int, randn) -> None:
    for dtype in (torch.bfloat16, torch.float32):
        x, gemma, beta = randn(1, hidden, dtype=dtype), randn(hidden), randn(hidden)
        assert_close(layernorm(x, gemma, beta), _reference(x, gemma, beta))


@pytest.mark.parametrize("hidden", [8, 1000, 1500])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9])
def test_any_number_of_rows(rows: int, hidden: int, randn) -> None:
    x, gemma, beta = randn(rows, hidden, dtype=torch.half), randn(hidden), randn(hidden)
    assert_close(layernorm(x, gemma, beta), _reference(x, gemma, beta))


@pytest.mark.parametrize("shape", [(0, 64), (4, 0), (0, 8, 64)])
def test_no_elements_are_no_work(shape: tuple[int, ...], randn) -> None:
    assert layernorm(randn(*shape), randn(shape[-1]), randn(shape[-1])).shape == shape


@pytest.mark.parametrize("dtype", FP8)
@pytest.mark.parametrize("hidden", [7, 96, 2048, 32772])
def test_either_fp8_type_and_a_scale_as_number_or_tensor(
    hidden: int, dtype: torch.dtype, randn, device: str
) -> None:
    x, gemma, beta = randn(2, hidden, dtype=torch.half), randn(hidden), randn(hidden)
    out, again = (torch.empty(2, hidden, dtype=dtype, device=device) for _ in range(2))
    assert layernorm_quant(out, x, gemma, beta, 0.125) is None
    assert_close(out, _reference(x, gemma, beta) / 0.125)
    layernorm_quant(again, x, gemma, beta, torch.full((), 0.125, device=device))
    assert torch.equal(out.view(torch.uint8), again.view(torch.uint8))


@pytest.mark.parametrize("dtype", FP8)
def test_what_is_beyond_the_range_of_fp8_is_its_end(dtype: torch.dtype, randn, device: str) -> None:
    x, gemma, beta = randn(4, 64), torch.full((64,), 1e9, device=device), randn(64)
    out = torch.empty(4, 64, dtype=dtype, device=device)
    layernorm_quant(out, x, gemma, beta, 1.0)
    ends = torch.finfo(dtype).max * _reference(x, gemma, beta).sign()
    assert torch.equal(out.double(), ends)


@pytest.mark.parametrize("hidden", [64, 99, 5000])
def test_out_is_returned_and_may_be_the_input(hidden: int, randn) -> None:
    x, gemma, beta = randn(2, hidden), randn(hidden), randn(hidden)
    expected = _reference(x, gemma, beta)
    assert layernorm(x, gemma, beta, out=x) is x
    assert_close(x, expected)


@pytest.mark.parametrize("dtype", [torch.half, torch.float32])
@pytest.mark.parametrize("hidden", [68, 516, 1500, 4096])
def test_a_row_is_the_same_bit_by_bit_whatever_is_batched_with_it(
    hidden: int, dtype: torch.dtype, randn
) -> None:
    rows = (1 << 19) // hidden + 1  # so many that a thread holds more of one
    x, gamma, beta = randn(rows, hidden, dtype=dtype), randn(hidden), randn(hidden)
    together = layernorm(x, gamma, beta)
    for some in (slice(0, 2), slice(rows - 1, rows)):
        assert torch.equal(layernorm(x[some], gamma, beta), together[some])
        assert_close(together[some], _reference(x[some], gamma, beta))


@pytest.mark.parametrize("hidden", [96, 1024, 4100])
def test_the_result_is_rounded_once(hidden: int, randn) -> None:
    x, gemma, beta = randn(2, hidden, dtype=torch.half), randn(hidden), randn(hidden)
    got, want = layernorm(x, gemma, beta).double(), _reference(x, gemma, beta)
    torch.testing.assert_close(got, want, rtol=1.01 * 2**-11, atol=1e-6)


@pytest.mark.parametrize("hidden", [96, 2048, 2049])
def test_a_mean_that_is_large_beside_the_deviation(hidden: int, randn) -> None:
    x, gemma, beta = 4096 + randn(2, hidden), randn(hidden), randn(hidden)
    got, want = layernorm(x, gemma, beta).double(), _reference(x, gemma, beta)
    torch.testing.assert_close(got, want, rtol=1e-3, atol=2e-3)


def test_eps_is_added_under_the_root(randn, device: str) -> None:
    x, gemma, beta = 1e-3 * randn(4, 64), randn(64), randn(64)
    assert_close(layernorm(x, gemma, beta, 0.5), _reference(x, gemma, beta, 0.5))
    equal = torch.full((2, 64), 3.0, device=device)
    assert torch.equal(layernorm(equal, gemma, beta), beta.expand(2, 64))


@pytest.mark.parametrize("offset", [1, 2])
def test_any_of_the_tensors_may_be_misaligned(offset: int, randn) -> None:
    for misaligned in range(4):
        x, out, gemma, beta = (
            randn(520 + offset, dtype=torch.half if i < 2 else torch.float32)[
                offset if i == misaligned else 0 :
            ]
            for i in range(4)
        )
        rows, result = x[:512].view(2, 256), out[:512].view(2, 256)
        layernorm(rows, gemma[:256], beta[:256], out=result)
        assert_close(result, _reference(rows, gemma[:256], beta[:256]))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, 0],
        lambda x: x[::2],
        lambda x: x[:, 0, :40],
        lambda x: x[:, 0, 3:20],
        lambda x: x[:, :1].expand(6, 1, 96),
        lambda x: x[0, :1].expand(6, 96),
        lambda x: x[0, 0],
    ],
    ids=["rows", "three", "aligned columns", "columns", "groups", "one row", "a vector"],
)
def test_rows_at_any_pitch(view, randn, device: str) -> None:
    x = view(randn(6, 4, 96).bfloat16())
    if x.dim() == 3:
        x = x[:, 0]
    gemma, beta = randn(x.shape[-1]), randn(x.shape[-1])
    assert_close(layernorm(x, gemma, beta), _reference(x, gemma, beta))
    contiguous = torch.empty(x.shape, device=device, dtype=x.dtype)
    assert_close(layernorm(x, gemma, beta, out=contiguous), _reference(x, gemma, beta))


def test_more_dimensions_are_more_rows(randn) -> None:
    x, gemma, beta = randn(3, 2, 40), randn(40), randn(40)
    assert_close(layernorm(x, gemma, beta), _reference(x, gemma, beta))


@pytest.mark.parametrize("pitch", [61, 64])
def test_a_pitched_output_leaves_its_gaps_alone(pitch: int, randn, device: str) -> None:
    x, gemma, beta = randn(8, 40), randn(40), randn(40)
    whole = torch.full((8, pitch), 7.0, device=device)
    layernorm(x, gemma, beta, out=whole[:, :40])
    assert_close(whole[:, :40], _reference(x, gemma, beta))
    assert bool((whole[:, 40:] == 7.0).all())


def test_pdl_does_not_change_what_a_chain_of_calls_computes(randn) -> None:
    x, gemma, beta = randn(16, 1024), randn(1024), randn(1024)
    with_pdl, without = x.clone(), x.clone()
    for _ in range(10):
        layernorm(with_pdl, gemma, beta, out=with_pdl, enable_pdl=True)
        layernorm(without, gemma, beta, out=without, enable_pdl=False)
    assert torch.equal(with_pdl, without)


def test_weights_of_another_shape_or_dtype_are_refused_by_name(randn) -> None:
    x, good = randn(4, 8), randn(8)
    with pytest.raises(ValueError, match=r"layernorm: .*'gemma' has 9 elements, .*'input' has 8"):
        layernorm(x, randn(9), good)
    with pytest.raises(ValueError, match=r"layernorm: .*'beta' has shape \(1, 8\)"):
        layernorm(x, good, randn(1, 8))
    with pytest.raises(ValueError, match=r"layernorm: .*'beta' is not contiguous"):
        layernorm(x, good, randn(16)[::2])
    with pytest.raises(TypeError, match=r"layernorm: .*'gemma' has dtype float16.*float32"):
        layernorm(x.half(), good.half(), good)


def test_inputs_that_are_no_rows_are_refused_in_words(randn) -> None:
    with pytest.raises(ValueError, match=r"layernorm: .*'input' has shape \(\); pass"):
        layernorm(randn(), randn(8), randn(8))
    with pytest.raises(ValueError, match=r"layernorm: .*'input' has shape .*input.contiguous\(\)"):
        layernorm(randn(8, 4).t(), randn(8), randn(8), out=randn(4, 8))


def test_another_out_is_refused_by_name(randn) -> None:
    x, gemma, beta = randn(4, 8), randn(8), randn(8)
    with pytest.raises(ValueError, match=r"layernorm: .*'out'.*\(4, 9\)"):
        layernorm(x, gemma, beta, out=randn(4, 9))
    with pytest.raises(TypeError, match=r"layernorm: .*'out'.*float16"):
        layernorm(x, gemma, beta, out=randn(4, 8).half())
    with pytest.raises(
        ValueError, match=r"layernorm: .*'out' .*strides \(0, 1\): its rows overlap"
    ):
        layernorm(x, gemma, beta, out=randn(1, 8).expand(4, 8))
    with pytest.raises(TypeError, match=r"layernorm_quant: .*'out'.*float8_e4m3fn, float8_e5m2"):
        layernorm_quant(randn(4, 8).half(), x, gemma, beta, 1.0)


def test_another_scale_than_one_number_is_refused_by_name(randn, device: str) -> None:
    x, gemma, beta = randn(4, 8), randn(8), randn(8)
    out = torch.empty(4, 8, dtype=torch.float8_e4m3fn, device=device)
    with pytest.raises(ValueError, match=r"layernorm_quant: .*'scale' has shape \(2,\)"):
        layernorm_quant(out, x, gemma, beta, randn(2))
    with pytest.raises(TypeError, match=r"layernorm_quant: .*'scale' has dtype float16.*float32"):
        layernorm_quant(out, x, gemma, beta, randn(1).half())


def test_an_unsupported_dtype_names_the_accepted_ones(randn) -> None:
    with pytest.raises(TypeError, match=r"layernorm: .*'input'.*float64.*float16.*float32"):
        layernorm(randn(4, 8).double(), randn(8), randn(8))


@pytest.mark.needs_gpu
def test_more_than_2_to_the_31_elements() -> None:
    rows, hidden = (1 << 20) + 1, 2048
    if torch.cuda.mem_get_info()[0] < 2 * rows * hidden + (1 << 30):
        pytest.skip("needs more free GPU memory")
    x = torch.ones(rows, hidden, device="cuda", dtype=torch.half)
    x[-1] = torch.randn(hidden, device="cuda").half()
    gemma, beta = (torch.randn(hidden, device="cuda") for _ in range(2))
    expected = _reference(x[-1:], gemma, beta)
    assert_close(layernorm(x, gemma, beta, out=x)[-1:], expected)
    assert torch.equal(x[rows - 2], beta.half())
