"""Tests of matrix products beside their traces: shapes, strides, epilogues, refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.gemm._cublas import FUNCTIONS
from fictl.kernels.gemm._tactics import SM80, Tactic
from fictl.kernels.gemm.dense.op import bmm_bf16, dense, gemm_alpha_beta, linear_silu, mm_bf16

BF16, FP16 = torch.bfloat16, torch.float16
# Each configuration is a compile: most tests share that of the tile of 16 x 64 with bf16.
SMALL = SM80[2].tactic
SMALL_TILE = {"backend": "sm80", "tactic": SMALL}


@pytest.fixture
def randn(device: str):
    def make(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
        return torch.randn(shape, device=device).to(dtype)

    return make


def _close(result: torch.Tensor, expected: torch.Tensor) -> None:
    """Compare with fp64, beyond rounding only by what fp32 sums lose."""
    rtol = {BF16: 1.7e-2, FP16: 2e-3, torch.float32: 1e-4}[result.dtype]
    torch.testing.assert_close(result.double(), expected, rtol=rtol, atol=1e-3)


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.double() @ b.double().mT


@pytest.mark.parametrize("k", [1, 7, 8, 63, 64, 65, 200])
@pytest.mark.parametrize("m", [1, 16, 17, 49])
def test_one_to_three_tiles_and_one_more(m: int, k: int, randn) -> None:
    for n in (1, 64, 65, 193):
        a, b = randn(m, k), randn(n, k)
        _close(dense(a, b, **SMALL_TILE), _product(a, b))


@pytest.mark.parametrize("known", SM80[:2], ids=["128x128", "64x64"])
def test_every_tile(known, randn) -> None:
    tile_m, tile_n = known.tactic.tile_m, known.tactic.tile_n
    for m, n, k in ((tile_m + 1, 2 * tile_n + 3, 65), (tile_m, tile_n, 32), (1, 1, 1)):
        a, b = randn(m, k), randn(n, k)
        _close(dense(a, b, backend="sm80", tactic=known.tactic), _product(a, b))


@pytest.mark.parametrize("parts", [2, 3, 7, 64])
def test_parts_of_k_are_summed_in_their_order(parts: int, randn) -> None:
    """Also parts without any k, of an n without pairs."""
    a, b = randn(5, 300), randn(67, 300)
    tactic = SMALL._replace(parts=parts)
    results = [dense(a, b, backend="sm80", tactic=tactic) for _ in range(2)]
    _close(results[0], _product(a, b))
    assert torch.equal(*results)


@pytest.mark.parametrize("shape", [(0, 8, 8), (8, 0, 8), (0, 0, 0)])
def test_no_elements_are_no_work(shape: tuple[int, int, int], randn) -> None:
    m, n, k = shape
    assert dense(randn(m, k), randn(n, k), **SMALL_TILE).shape == (m, n)
    assert bmm_bf16(randn(0, m, k), randn(0, k, n), **SMALL_TILE).shape == (0, m, n)


def test_no_k_leaves_c_and_bias(randn) -> None:
    c, bias = randn(3, 5), randn(5)
    result = dense(randn(3, 0), randn(5, 0), c, bias, beta=2.0, **SMALL_TILE)
    _close(result, 2 * c.double() + bias.double())


_VIEWS = {
    "padded rows": lambda x: torch.cat([x, x], -1)[:, : x.shape[1]],
    "unaligned rows": lambda x: torch.cat([x, x[:, :3]], -1)[:, : x.shape[1]],
    "unaligned start": lambda x: torch.cat([x[:, :1], x, x[:, :7]], -1)[:, 1 : x.shape[1] + 1],
    "column-major": lambda x: x.T.contiguous().T,
    "unaligned columns": lambda x: torch.cat([x, x[:3]]).T.contiguous().T[: x.shape[0]],
    "neither": lambda x: torch.stack([x, x], -1)[..., 0],
    "one row": lambda x: x[:1].expand(x.shape),
    "one column": lambda x: x[:, :1].expand(x.shape),
}


@pytest.mark.parametrize("view", _VIEWS.values(), ids=_VIEWS.keys())
def test_operands_of_any_strides(view, randn) -> None:
    a, b = randn(24, 72), randn(80, 72)
    _close(dense(view(a), b, **SMALL_TILE), _product(view(a), b))
    _close(dense(a, view(b), **SMALL_TILE), _product(a, view(b)))


def test_both_operands_are_repacked(randn) -> None:
    a, b = randn(19, 301), randn(70, 301)
    tactic = SMALL._replace(parts=2)
    _close(dense(a, b, backend="sm80", tactic=tactic), _product(a, b))


@pytest.mark.parametrize(
    "view",
    [
        lambda out: torch.cat([out, out], -1)[:, : out.shape[1]],
        lambda out: torch.cat([out[:, :1], out], -1)[:, 1:],
        lambda out: out.T.contiguous().T,
        lambda out: torch.stack([out, out], -1)[..., 1],
    ],
    ids=["padded rows", "odd start", "column-major", "every other element"],
)
def test_out_is_returned_and_written_alone(view, randn) -> None:
    a, b = randn(9, 40), randn(30, 40)
    out = view(torch.full((9, 30), 7.0, dtype=BF16, device=a.device))
    whole = out._base if out._base is not None else out
    before = whole.clone()
    assert dense(a, b, out=out, **SMALL_TILE) is out
    _close(out, _product(a, b))
    out.fill_(7.0)
    assert torch.equal(whole, before)


@pytest.mark.parametrize("dims", ["m", "batch"])
def test_leading_dimensions(dims: str, randn) -> None:
    """Those of a become rows; those of both are broadcast."""
    a = randn(2, 3, 5, 40)
    b = randn(30, 40) if dims == "m" else randn(3, 30, 40)
    result = dense(a, b, **SMALL_TILE)
    _close(result, _product(a, b))
    out = torch.empty_like(result)
    assert dense(a, b, out=out, **SMALL_TILE) is out
    assert torch.equal(out, result)


def test_one_matrix_for_all_of_a_batch(randn) -> None:
    a, b = randn(4, 6, 33), randn(10, 33).expand(4, 10, 33)
    _close(dense(a, b, **SMALL_TILE), _product(a, b))
    aligned = randn(10, 32).expand(4, 10, 32)
    _close(
        dense(randn(4, 6, 32) * 0, aligned, **SMALL_TILE),
        torch.zeros(4, 6, 10, device=a.device).double(),
    )


def test_mm_takes_weights_of_either_order(randn) -> None:
    a, weight = randn(6, 40), randn(30, 40)
    expected = _product(a, weight)
    _close(mm_bf16(a, weight.T, **SMALL_TILE), expected)
    _close(mm_bf16(a, weight.T.contiguous(), **SMALL_TILE), expected)


def test_batches(randn) -> None:
    a, b = randn(3, 6, 40), randn(3, 30, 40)
    _close(bmm_bf16(a, b.mT, **SMALL_TILE), _product(a, b))
    shared_rows = randn(6, 3, 40).transpose(0, 1)
    _close(bmm_bf16(shared_rows, b.mT, **SMALL_TILE), _product(shared_rows, b))


@pytest.mark.parametrize("activation", FUNCTIONS)
def test_activations_with_bias_and_c(activation: str, randn) -> None:
    a, b, c, bias = randn(18, 72), randn(70, 72), randn(18, 70), randn(70)
    x = 0.5 * _product(a, b) - 2.0 * c.double() + bias.double()
    result = dense(a, b, c, bias, 0.5, -2.0, activation, **SMALL_TILE)
    _close(result, FUNCTIONS[activation](x))
    _close(dense(a, b, c, bias, 0.5, -2.0, activation, backend="cublas"), FUNCTIONS[activation](x))


def test_a_linear_layer_and_its_silu_are_one_call(randn) -> None:
    x, weight, bias = randn(2, 9, 72), randn(70, 72), randn(70)
    expected = dense(x, weight, bias=bias, activation="silu", **SMALL_TILE)
    assert torch.equal(linear_silu(x, weight, bias, **SMALL_TILE), expected)
    with pytest.raises(ValueError, match="'input' and 'weight' have shapes"):
        linear_silu(x, weight[:, 1:])


@pytest.mark.parametrize("dtype", [BF16, FP16])
@pytest.mark.parametrize("out_dtype", [torch.float32, BF16, FP16])
def test_dtypes_of_operands_and_outputs(dtype: torch.dtype, out_dtype: torch.dtype, randn) -> None:
    a, b = randn(5, 40, dtype=dtype), randn(11, 40, dtype=dtype)
    for backend in ("sm80", "cublas"):
        tactic = SMALL if backend == "sm80" else None
        result = dense(a, b, out_dtype=out_dtype, backend=backend, tactic=tactic)
        assert result.dtype == out_dtype
        _close(result, _product(a, b))


def test_the_result_is_rounded_once(randn) -> None:
    """fp32 sums of few products are nearly exact, so the error is that of bf16 alone."""
    a, b, bias = randn(16, 16), randn(64, 16), randn(64)
    result = dense(a, b, bias=bias, **SMALL_TILE).double()
    torch.testing.assert_close(result, _product(a, b) + bias.double(), rtol=1.01 * 2**-8, atol=1e-5)


def test_nan_and_infinity_are_as_in_ieee(randn) -> None:
    a, b = randn(20, 40), randn(70, 40)
    a[3, 5], a[4, 6], b[7, 8] = float("nan"), float("inf"), float("-inf")
    result = dense(a, b, **SMALL_TILE)
    torch.testing.assert_close(
        result.double(), _product(a, b), rtol=1.7e-2, atol=1e-3, equal_nan=True
    )
    c = torch.full((20, 70), float("nan"), dtype=BF16, device=a.device)
    assert torch.equal(dense(a, b, c, beta=0.0, **SMALL_TILE).nan_to_num(), result.nan_to_num())


def test_relu_keeps_nan(randn) -> None:
    a, b = randn(3, 8), randn(4, 8)
    a[0, 0] = float("nan")
    assert bool(dense(a, b, activation="relu", backend="cublas")[0].isnan().all())


def test_c_may_be_out(randn) -> None:
    a, b, c = randn(18, 72), randn(70, 72), randn(18, 70)
    expected = _product(a, b) + 0.5 * c.double()
    assert dense(a, b, c, beta=0.5, out=c, **SMALL_TILE) is c
    _close(c, expected)


@pytest.mark.parametrize("num_sms", [None, 1, 3])
def test_gemm_alpha_beta_writes_c(num_sms: int | None, randn) -> None:
    a, b, c = randn(72, 40), randn(72, 150), randn(40, 150)
    expected = 0.5 * a.double().T @ b.double() + 2.0 * c.double()
    result = gemm_alpha_beta(
        a, b, c, trans_a=True, trans_b=False, alpha=0.5, beta=2.0, num_sms=num_sms, **SMALL_TILE
    )
    assert result is c
    _close(c, expected)


def test_the_model_chooses_a_tile(randn) -> None:
    a, b = randn(5, 40), randn(30, 40)
    assert torch.equal(dense(a, b), dense(a, b, tactic=Tactic()))


def test_rows_side_by_side_in_one_buffer(randn) -> None:
    buffer = randn(6, 100)
    a, out, b = buffer[:, :40], buffer[:, 40:70], randn(30, 40)
    expected = _product(a, b)
    dense(a, b, out=out, **SMALL_TILE)
    _close(out, expected)


def _refuses(match: str, *args, error: type[Exception] = ValueError, **kwargs) -> None:
    with pytest.raises(error, match=match):
        dense(*args, **{"backend": "sm80", "tactic": SMALL, **kwargs})


def test_refusals_of_shapes(randn) -> None:
    a, b = randn(4, 40), randn(30, 40)
    _refuses(r"'a' and 'b' have shapes \(4, 40\) and \(30, 39\): k is 40 .* 39", a, b[:, :39])
    _refuses(r"'a' has shape \(40,\), which is not a matrix", a[0], b)
    _refuses(r"'c' has shape \(4, 29\).*it has \(4, 30\)", a, b, randn(4, 29))
    _refuses(
        r"'out' has shape \(4, 30\); .* \(4, 15\)", a, b, activation="swiglu", out=randn(4, 30)
    )
    _refuses(r"'bias' has 29 elements.*30 rows", a, b, bias=randn(29))
    _refuses(r"'b' has shape \(29, 40\).*a multiple of as many", a, b[:29], activation="swiglu")
    _refuses(r"leading dimensions", randn(2, 4, 40), randn(3, 30, 40))


def test_refusals_of_dtypes(randn) -> None:
    a, b = randn(4, 40), randn(30, 40)
    kwargs = {"error": TypeError}
    _refuses("'a' has dtype float32; accepted: bfloat16, float16", a.float(), b, **kwargs)
    _refuses("'b' has dtype float16, 'a' has bfloat16", a, b.half(), **kwargs)
    _refuses("'bias' has dtype float32, 'a' has bfloat16", a, b, bias=randn(30).float(), **kwargs)
    _refuses("'c' has dtype float32, 'out' has bfloat16", a, b, randn(4, 30).float(), **kwargs)
    _refuses("'out_dtype' is int32; accepted", a, b, out_dtype=torch.int32, **kwargs)
    _refuses(
        "'out' has dtype bfloat16, 'out_dtype' is float16",
        a,
        b,
        out=randn(4, 30),
        out_dtype=FP16,
        **kwargs,
    )
    with pytest.raises(TypeError, match=r"mm_bf16: argument 'b' has dtype float16; .*dense"):
        mm_bf16(a, b.half().T)


def test_refusals_of_memory(randn) -> None:
    a, b = randn(30, 30), randn(30, 30)
    _refuses("'out' .* shares memory with 'a'", a, b, out=a)
    _refuses("'out' .* shares memory with 'b'", a, b, out=b)
    c = randn(31, 30)
    _refuses("'out' .* shares memory with 'c'", a, b, c[:30], out=c[1:])
    _refuses("its rows overlap", a, b, out=randn(1, 30).expand(30, 30))


def test_refusals_of_words_and_numbers(randn) -> None:
    a, b = randn(4, 40), randn(30, 40)
    _refuses("'activation' is 'tanh'; accepted: none, relu", a, b, activation="tanh")
    _refuses(
        "unknown backend 'cudnn'.*one of sm80, cublas or auto|unknown backend",
        a,
        b,
        backend="cudnn",
    )
    with pytest.raises(ValueError, match="'num_sms' is 0"):
        gemm_alpha_beta(a, b, randn(4, 30), num_sms=0)


def test_sizes_beyond_int_are_refused(device: str) -> None:
    long = torch.empty(1, 1, dtype=BF16, device=device).expand(1, 2**30 + 1)
    _refuses("up to 1073741824 elements", long, long)


def _chain(a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """Allocates, writes in place, and has work of torch's own between."""
    x = dense(a, b, bias=bias, activation="silu") + 1
    gemm_alpha_beta(a, b, c, beta=0.5)
    return dense(a[:, :32], b[:, :32]) + x * c


def test_one_graph_of_torch_compile_is_what_eager_mode_computes(randn) -> None:
    a, b, bias, c = randn(4, 48), randn(16, 48), randn(16), randn(4, 16)
    written = c.clone()
    expected = _chain(a, b, bias, c)
    torch.compiler.reset()
    compiled = torch.compile(_chain, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(a, b, bias, written), expected)
    assert torch.equal(written, c)


def test_an_address_that_torch_compile_cannot_know_is_refused(randn) -> None:
    a, b = randn(4, 48), randn(16, 40)
    torch.compiler.reset()
    compiled = torch.compile(lambda a, b: dense(a[:, 1:41], b), fullgraph=True, backend="eager")
    with pytest.raises(ValueError, match=r"'a' .* first element .* pass a\.clone\(\)"):
        compiled(a, b)
