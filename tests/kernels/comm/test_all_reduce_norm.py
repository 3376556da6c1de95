"""The fused all-reduces over several ranks: every output, every quantization, experts, refusals."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from fictl.kernels.comm.all_reduce_norm.op import (
    all_reduce_norm,
    moe_finalize_all_reduce_norm,
    moe_reduce_all_reduce_norm,
)
from fictl.kernels.quantization.block_scaled.op import fp4_quantize
from fictl.testing import assert_close

from .reducing import STRATEGIES, Reducing, rank_sum, same_bits

DTYPES = (torch.float16, torch.bfloat16, torch.float32)
EPS = 1e-6
MOST = 448.0


def _rows(count: int, *shape: int, dtype: torch.dtype, device: str) -> list[torch.Tensor]:
    return [torch.randn(shape, device=device).to(dtype) for _ in range(count)]


def _expected(
    inputs: list[torch.Tensor], residual: torch.Tensor, weight: torch.Tensor, bias: float = 0.0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the norm, in fp64, and the residual, rounded."""
    added = (rank_sum(inputs).float() + residual.float()).to(residual.dtype)
    x = added.double()
    factor = torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS)
    return x * factor * (weight.double() + bias), added


def _norms(
    ranks: Reducing, inputs: list[torch.Tensor], *given: torch.Tensor, **options: Any
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """Return rank 0's results, after a comparison of those of all."""
    results = ranks.call(all_reduce_norm, inputs, *([x] * len(inputs) for x in given), **options)
    for out, residual in results:
        assert same_bits(residual, results[0][1])
        assert out is None or same_bits(out, results[0][0])
    return results[0]


@pytest.mark.parametrize("hidden", [4352, 4096, 4092, 1156, 132])
def test_a_row_has_the_same_bits_however_many_blocks_share_it(hidden: int, device: str) -> None:
    """Sizes whose warps are no multiple of the blocks; rows of many vectors have two a thread, and
    four where there are more rows than blocks.
    """
    ranks = Reducing(2, device, 1 << 17)
    inputs = _rows(2, 3, hidden, dtype=torch.float32, device=device)
    residual, weight = _rows(2, 3, hidden, dtype=torch.float32, device=device)
    found = []
    for blocks in (1, 2, 16, 64):
        ranks.limit_blocks(blocks)
        found += [
            _norms(ranks, inputs, residual, weight[0], strategy=strategy)[0]
            for strategy in ("one-shot", "two-shot")
        ]
    assert all(same_bits(found[0], out) for out in found[1:])


@pytest.mark.parametrize("quantize", ["fp8-token", "fp8-group", "nvfp4"])
def test_a_row_is_quantized_alike_however_many_blocks_share_it(quantize: str, device: str) -> None:
    tokens, hidden = 5, 2048
    case = Quantized(tokens, hidden, torch.bfloat16, device)
    found = []
    for blocks in (1, 64):
        case.ranks.limit_blocks(blocks)
        options: dict[str, Any] = {"quantize": quantize}
        if quantize == "nvfp4":
            options["quant_out"] = torch.empty(tokens, hidden // 2, dtype=torch.uint8)
            options["scale_out"] = torch.zeros(tokens * hidden // 16, dtype=torch.uint8)
            options |= {"scale": torch.tensor([3.0]), "layout": 2}
        else:
            options["quant_out"] = torch.empty(tokens, hidden, dtype=torch.float8_e4m3fn)
            options["scale_out"] = torch.zeros(tokens, 1)
        if quantize == "fp8-group":
            options["scale_out"] = torch.zeros(4, 8, dtype=torch.int32).t()[:tokens]
        options = {k: v.to(device) if torch.is_tensor(v) else v for k, v in options.items()}
        case.call(**options)
        found.append((options["quant_out"], options["scale_out"]))
    assert all(same_bits(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("strategy", [None, *STRATEGIES])
def test_norms_of_rank_ordered_sums(strategy: str | None, dtype: torch.dtype, device: str) -> None:
    """A row a warp, rows over clusters, more rows than blocks; hidden sizes of no power of two."""
    ranks = Reducing(3, device, 1 << 17)
    for blocks, tokens, hidden in ((16, 5, 64), (16, 1, 2880), (3, 7, 264)):
        ranks.limit_blocks(blocks)
        inputs = _rows(3, tokens, hidden, dtype=dtype, device=device)
        residual, weight = _rows(2, tokens, hidden, dtype=dtype, device=device)
        out, added = _norms(
            ranks, inputs, residual, weight[0], strategy=strategy, weight_bias=1.0, eps=EPS
        )
        norm, rounded = _expected(inputs, residual, weight[0], 1.0)
        assert same_bits(added, rounded)
        assert_close(out, norm)


@pytest.mark.parametrize("size", [2, 5, 8])
def test_any_number_of_ranks(size: int, device: str) -> None:
    inputs = _rows(size, 2, 128, dtype=torch.bfloat16, device=device)
    residual, weight = _rows(2, 2, 128, dtype=torch.bfloat16, device=device)
    out, added = _norms(Reducing(size, device), inputs, residual, weight[0])
    norm, rounded = _expected(inputs, residual, weight[0])
    assert same_bits(added, rounded)
    assert_close(out, norm)


def test_long_rows_and_the_same_bits_alone_and_among_others(device: str) -> None:
    """8200 values have two vectors a thread; of few rows each has more blocks."""
    ranks = Reducing(2, device, 1 << 18)
    for hidden in (8200, 1024):
        inputs = _rows(2, 9, hidden, dtype=torch.float16, device=device)
        residual, weight = _rows(2, 9, hidden, dtype=torch.float16, device=device)
        many, _ = _norms(ranks, inputs, residual, weight[0])
        alone, _ = _norms(ranks, [x[:1].clone() for x in inputs], residual[:1], weight[0])
        assert many is not None
        assert same_bits(alone, many[:1])
        assert_close(many, _expected(inputs, residual, weight[0])[0])


def test_in_place(device: str) -> None:
    ranks = Reducing(2, device)
    inputs = _rows(2, 4, 256, dtype=torch.bfloat16, device=device)
    residual, weight = _rows(2, 4, 256, dtype=torch.bfloat16, device=device)
    norm, rounded = _expected(inputs, residual, weight[0])
    residuals = [residual.clone() for _ in inputs]
    sums = [torch.empty_like(x) for x in inputs]
    total = rank_sum(inputs)

    def op(x: torch.Tensor, own: torch.Tensor, out: torch.Tensor, workspace: Any) -> None:
        all_reduce_norm(
            x, own, weight[0], out=x, residual_out=own, sum_out=out, workspace=workspace
        )

    ranks.call(op, inputs, residuals, sums)
    for rank in range(2):
        assert same_bits(residuals[rank], rounded)
        assert same_bits(sums[rank], total)
        assert_close(inputs[rank], norm)


class Quantized:
    """Inputs of two ranks, and the norm that is quantized."""

    def __init__(self, tokens: int, hidden: int, dtype: torch.dtype, device: str) -> None:
        self.ranks = Reducing(2, device)
        self.inputs = _rows(2, tokens, hidden, dtype=dtype, device=device)
        self.given = _rows(1, tokens, hidden, dtype=dtype, device=device)
        self.given += _rows(1, hidden, dtype=dtype, device=device)

    def call(self, **options: Any) -> torch.Tensor:
        """Return the norm that is written besides; without it, the quantized one is the same."""
        out, _ = _norms(self.ranks, self.inputs, *self.given, **options)
        assert out is not None
        names = [name for name in ("quant_out", "scale_out") if name in options]
        kept = {name: options[name].clone() for name in names}
        for name in names:
            options[name].zero_()
        _norms(self.ranks, self.inputs, *self.given, writes_norm=False, **options)
        for name in names:
            assert same_bits(options[name], kept[name])
        return out


@pytest.mark.parametrize("dtype", DTYPES)
def test_fp8_of_a_tensor(dtype: torch.dtype, device: str) -> None:
    case = Quantized(3, 128, dtype, device)
    scale = torch.tensor([0.01], device=device)
    quant = torch.empty(3, 128, dtype=torch.float8_e4m3fn, device=device)
    norm = case.call(quantize="fp8", quant_out=quant, scale=scale)
    assert_close(quant, (norm.double() / 0.01).clamp(-MOST, MOST))


@pytest.mark.parametrize("dtype", DTYPES)
def test_fp8_of_a_token(dtype: torch.dtype, device: str) -> None:
    case = Quantized(3, 1024, dtype, device)
    scales = torch.empty(3, 1, device=device)
    quant = torch.empty(3, 1024, dtype=torch.float8_e4m3fn, device=device)
    norm = case.call(quantize="fp8-token", quant_out=quant, scale_out=scales)
    assert_close(scales, norm.double().abs().amax(-1, keepdim=True) / MOST)
    assert_close(quant, (norm.double() / scales.double()).clamp(-MOST, MOST))


@pytest.mark.parametrize(("hidden", "group"), [(640, 128), (512, 32), (256, 256)])
def test_fp8_of_groups_with_packed_exponents(hidden: int, group: int, device: str) -> None:
    """Four exponents a word, in columns whose stride is a multiple of four rows."""
    case = Quantized(3, hidden, torch.bfloat16, device)
    groups = hidden // group
    words = -(-groups // 4)
    scales = torch.full((words, 4), -1, dtype=torch.int32, device=device).t()[:3]
    quant = torch.empty(3, hidden, dtype=torch.float8_e4m3fn, device=device)
    norm = case.call(quantize="fp8-group", quant_out=quant, scale_out=scales, group_size=group)
    most = norm.double().unflatten(-1, (groups, group)).abs().amax(-1)
    expected = torch.ceil(torch.log2(most / MOST))
    exponents = scales.clone(memory_format=torch.contiguous_format).view(torch.uint8)
    assert torch.equal(exponents[:, :groups].double() - 127, expected)
    assert not exponents[:, groups:].any()
    assert_close(quant, norm.double() / torch.exp2(expected).repeat_interleave(group, -1))


@pytest.mark.parametrize("layout", [0, 1, 2])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_nvfp4_is_that_of_fp4_quantize(dtype: torch.dtype, layout: int, device: str) -> None:
    case = Quantized(5, 208, dtype, device)
    scale = torch.tensor([3.0], device=device)
    padded = {0: 128 * 16, 1: 8 * 16, 2: 5 * 13}[layout]
    scales = torch.full((padded,), 77, dtype=torch.uint8, device=device)
    quant = torch.empty(5, 104, dtype=torch.uint8, device=device)
    norm = case.call(
        quantize="nvfp4", quant_out=quant, scale_out=scales, scale=scale, layout=layout
    )
    values, blocks = fp4_quantize(
        norm, scale, is_sf_swizzled_layout=layout < 2, is_sf_8x4_layout=layout == 1
    )
    assert torch.equal(quant, values.view(torch.uint8))
    assert torch.equal(scales, blocks.view(torch.uint8).flatten())


@pytest.mark.parametrize("strategy", ["lamport", "two-shot"])
@pytest.mark.parametrize("scale_dtype", [torch.float32, torch.bfloat16])
def test_the_output_of_experts(strategy: str, scale_dtype: torch.dtype, device: str) -> None:
    tokens, hidden, count, dtype = 5, 264, 3, torch.bfloat16
    ranks = Reducing(2, device)
    experts = _rows(2, count, tokens, hidden, dtype=dtype, device=device)
    scales = _rows(2, count, tokens, dtype=scale_dtype, device=device)
    inputs = _rows(2, tokens, hidden, dtype=dtype, device=device)
    residual, weight = _rows(2, tokens, hidden, dtype=dtype, device=device)
    parts = [
        (torch.einsum("eth,et->th", e.double(), s.double()) + x.double()).to(dtype)
        for e, s, x in zip(experts, scales, inputs, strict=True)
    ]
    given = ([residual] * 2, [weight[0]] * 2)
    results = ranks.call(
        moe_reduce_all_reduce_norm, experts, scales, inputs, *given, strategy=strategy
    )
    norm, _ = _expected(parts, residual, weight[0])
    for out, _ in results:
        assert_close(out, norm)
        assert same_bits(out, results[0][0])


@pytest.mark.parametrize("strategy", ["one-shot", "lamport-two-shot"])
def test_the_output_of_experts_by_token(strategy: str, device: str) -> None:
    tokens, hidden, top_k, dtype = 5, 128, 4, torch.float16
    ranks = Reducing(2, device)
    experts = _rows(2, 11, hidden, dtype=dtype, device=device)
    places = [
        torch.randint(-1, 11, (tokens, top_k), dtype=torch.int32).to(device) for _ in range(2)
    ]
    scales = [torch.rand(tokens, top_k, device=device) for _ in range(2)]
    shared = _rows(2, tokens, hidden, dtype=dtype, device=device)
    residual, weight = _rows(2, tokens, hidden, dtype=dtype, device=device)
    parts = []
    for e, p, s, x in zip(experts, places, scales, shared, strict=True):
        rows = e.double()[p.long().clamp(min=0)] * (p >= 0).double().unsqueeze(-1)
        parts.append(((rows * s.double().unsqueeze(-1)).sum(1) * 2.5 + x.double()).to(dtype))

    def op(e: Any, p: Any, s: Any, x: Any, workspace: Any) -> Any:
        return moe_finalize_all_reduce_norm(
            e,
            p,
            s,
            residual,
            weight[0],
            input=x,
            factor=2.5,
            workspace=workspace,
            strategy=strategy,
        )

    results = ranks.call(op, experts, places, scales, shared)
    for out, _ in results:
        assert_close(out, _expected(parts, residual, weight[0])[0])
        assert same_bits(out, results[0][0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hidden": 12}, "'residual' has rows of 12 elements; they have to be multiples of 8"),
        ({"quantize": "int8"}, "argument 'quantize' is 'int8'; accepted: 'fp8'"),
        ({"quantize": "fp8"}, "argument 'quant_out' is missing"),
        (
            {"quantize": "fp8-group", "group_size": 24},
            "'group_size' is 24; accepted of rows of 64: divisors that are 8 times a power of two",
        ),
        ({"quantize": "fp8-token", "scales": 2}, "'scale_out' has shape"),
    ],
)
def test_refusals(options: dict[str, Any], words: str, device: str) -> None:
    hidden = options.pop("hidden", 64)
    x, residual = _rows(2, 3, hidden, dtype=torch.float16, device=device)
    if "group_size" in options or "scales" in options:
        options["quant_out"] = torch.empty(3, hidden, dtype=torch.float8_e4m3fn, device=device)
        options["scale_out"] = torch.empty(options.pop("scales", 3), 1, device=device)
    with pytest.raises((ValueError, NotImplementedError), match=words):
        Reducing(1, device).call(all_reduce_norm, [x], [residual], [residual[0]], **options)
