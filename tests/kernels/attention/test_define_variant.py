"""Masks, logits and outputs of one's own: against torch, in Python and in C++, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl import ops
from fictl.jit import define_variant
from fictl.testing import assert_close
from fictl.translate import Untranslatable

TOLERANCES = {"float16": (5e-3, 3e-3), "bfloat16": (2e-2, 1.6e-2)}


def sliding_window_mask(q_idx, kv_idx, window_size):
    """滑动窗口注意力"""
    return abs(q_idx - kv_idx) <= window_size


def bent(logit, q_idx, kv_idx, head, kv_head, q_len, kv_len, cap=4.0, period: int = 3, bias=True):
    """A soft cap, a slope of the head, and no key at all for the first query."""
    if q_idx == 0 and bias:
        return -math.inf
    distance = kv_len - q_len + q_idx - kv_idx
    slope = 2.0 ** (-(head + 1) / 2)
    if bias and kv_idx % period == kv_head:
        logit += 1
    return cap * math.tanh(logit / cap) - slope * abs(distance)


def halved(value, dim, head, cap):
    return value / 2 if dim % 2 else value + head // 2 - cap


def random(q_len: int, kv_len: int, device: str, heads: int = 4) -> list[torch.Tensor]:
    shapes = ((q_len, heads, 64), (kv_len, 2, 64), (kv_len, 2, 64))
    return [torch.randn(shape, device=device).half() for shape in shapes]


def attention(
    inputs: list[torch.Tensor],
    seen: Callable[[int, int], bool],
    change: Callable[..., float] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, lse) in fp64: `seen` of each query and key, `change` of each logit and its place."""
    q, k, v = (x.double().cpu() for x in inputs)
    group = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(group, dim=1) for x in (k, v))
    logits = torch.einsum("qhd,khd->hqk", q, k) * q.shape[2] ** -0.5
    for head, i, j in torch.cartesian_prod(*map(torch.arange, logits.shape)).tolist():
        if not seen(i, j):
            logits[head, i, j] = -math.inf
        elif change is not None:
            logits[head, i, j] = change(float(logits[head, i, j]), i, j, head, head // group)
    lse = torch.logsumexp(logits, -1).nan_to_num(nan=-math.inf, neginf=-math.inf)
    weights = torch.exp(logits - lse.nan_to_num(neginf=0.0)[..., None])
    out = torch.einsum("hqk,khd->qhd", weights, v)
    return out, lse.T * math.log2(math.e)


def check(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert_close(found.cpu(), expected, tolerances=TOLERANCES)


@pytest.mark.parametrize("window", [256, 5, 0, 7.5, -1])
def test_a_sliding_window_in_python(window: float, device: str) -> None:
    sliding_window_variant = define_variant(
        mask_mode="CUSTOM",
        mask_fn=sliding_window_mask,
    )
    q, k, v = inputs = random(70, 90, device)
    output = sliding_window_variant.run(q, k, v, window_size=window)
    check(output, attention(inputs, lambda i, j: abs(i - j) <= window)[0])


def test_the_same_in_cpp_is_the_same_kernel(device: str) -> None:
    made = define_variant(mask_fn=sliding_window_mask)
    typed = define_variant(text=made.user.text, scalars=("window_size",))
    assert typed.user == made.user
    inputs = random(70, 90, device)
    found = typed.run(*inputs, window_size=3)
    assert torch.equal(found, made.run(*inputs, window_size=3))


def test_outputs_lse_and_scale_are_the_callers(device: str) -> None:
    variant = define_variant(mask_fn=sliding_window_mask)
    q, k, v = inputs = random(70, 30, device)
    out = torch.empty_like(q)
    found, lse = variant.run(q, k, v, out=out, return_lse=True, sm_scale=0.25, window_size=4)
    assert found is out
    expected = attention([q * 2, k, v], lambda i, j: abs(i - j) <= 4)
    check(out, expected[0])
    torch.testing.assert_close(lse.cpu().double(), expected[1], rtol=2e-3, atol=2e-3)
    assert inputs[0] is q


@pytest.mark.parametrize("mode", ["NONE", "CAUSAL"])
@pytest.mark.parametrize("given", [{}, {"cap": 2, "period": 2, "bias": False}])
def test_logits_and_outputs_by_their_places(mode: str, given: dict[str, Any], device: str) -> None:
    """Keys that are split over blocks, whose parts are merged before the output is changed."""
    variant = define_variant(mask_mode=mode, logits_fn=bent, output_fn=halved)
    q_len, kv_len = 3, 600
    inputs = random(q_len, kv_len, device, heads=8)
    numbers = {"cap": 4.0, "period": 3, "bias": True, **given}
    out, _ = attention(
        inputs,
        lambda i, j: mode == "NONE" or j <= kv_len - q_len + i,
        lambda logit, i, j, head, kv_head: bent(
            logit, i, j, head, kv_head, q_len, kv_len, **numbers
        ),
    )
    head, dim = torch.arange(8)[:, None], torch.arange(64)
    out = torch.where(dim % 2 == 1, out / 2, out + head // 2 - numbers["cap"])
    check(variant.run(*inputs, **given), out)


def test_batches_take_it_too(device: str) -> None:
    variant = define_variant(mask_fn=sliding_window_mask)
    made = ops.BatchPrefillWithRaggedKVCacheWrapper(
        torch.empty(1 << 20, dtype=torch.uint8, device=device), variant=variant
    )
    lengths = ((40, 40), (0, 9), (80, 90))
    parts = [random(q_len, kv_len, device) for q_len, kv_len in lengths]
    ends = [torch.tensor([0, *each]).cumsum(0).int() for each in zip(*lengths, strict=True)]
    made.plan(*ends, 4, 2, 64, q_data_type=torch.float16)
    found = made.run(*map(torch.cat, zip(*parts, strict=True)), scalars={"window_size": 6})
    alone = [variant.run(*part, window_size=6) for part in parts]
    torch.testing.assert_close(found, torch.cat(alone), rtol=2e-3, atol=2e-3)


def scaled(logit, kv_idx, gain: int):
    return logit * gain


def prefixed(q_idx, kv_idx, kv_len, prefix: int, doc: int = 64):
    """Documents that all see a prefix; of a causal mask beside it."""
    if kv_idx < prefix:
        return True
    return q_idx // doc == kv_idx // doc and not (kv_idx > kv_len - 3)


@pytest.mark.needs_gpu
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize("q_len", [2, 200])
def test_any_kernel_takes_any_variant(q_len: int, dim: int, dtype: torch.dtype) -> None:
    shapes = ((q_len, 6, dim), (300, 2, dim), (300, 2, dim))
    inputs = [torch.randn(shape, device="cuda").to(dtype) for shape in shapes]
    variant = define_variant("CAUSAL", prefixed, scaled)
    found = variant.run(*inputs, prefix=5, gain=2)
    expected, _ = attention(
        inputs,
        lambda i, j: j <= 300 - q_len + i and prefixed(i, j, 300, 5),
        lambda logit, i, j, head, kv_head: scaled(logit, j, 2),
    )
    check(found, expected)


def test_the_text_is_what_one_would_write() -> None:
    assert define_variant(mask_fn=sliding_window_mask).user.text == (
        "struct SlidingWindowMaskVariant : fictl::attention::Plain {\n"
        "  float window_size;\n"
        "\n"
        "  static constexpr bool kMasks = true;\n"
        "  __device__ bool keeps(const fictl::attention::Place& at) const {\n"
        "    return abs(at.query - at.key) <= window_size;\n"
        "  }\n"
        "\n"
        "  static SlidingWindowMaskVariant of(const double* scalars) {\n"
        "    SlidingWindowMaskVariant made;\n"
        "    made.window_size = static_cast<float>(scalars[0]);\n"
        "    return made;\n"
        "  }\n"
        "};\n"
    )


def test_scalars_have_types_defaults_and_one_place() -> None:
    def mask(q_idx, kv_idx, at, of: int = 3, double: bool = False):
        return (q_idx < kv_idx + at and kv_idx != of) or double

    def logits(logit, at, cap=2.0):
        return logit * at * cap

    variant = define_variant(mask_fn=mask, logits_fn=logits)
    assert variant.user.scalars == ("at", "of", "double", "cap")
    values = variant.values("op", {"at": 1.5, "double": True})
    assert values is not None
    assert values.tolist() == [1.5, 3.0, 1.0, 2.0]
    for name in ("float at_;", "int of_;", "bool double_;", "float cap;"):
        assert f"  {name}\n" in variant.user.text


def test_what_is_divided_by_is_made_ready_on_the_host() -> None:
    def logits(logit, q_idx, by_n: float, n: int, cap=2.0):
        return logit / cap + q_idx // n + q_idx % n + by_n

    text = define_variant(logits_fn=logits).user.text
    assert "  fictl::device::FloorDivisor by_n_;\n  float inverse_of_cap;\n" in text
    assert "logit * inverse_of_cap + by_n_.quotient(at.query) + by_n_.remainder(at.query)" in text
    assert "    made.by_n_ = fictl::device::FloorDivisor(made.n);\n" in text


def test_a_scalar_that_means_two_things_is_refused() -> None:
    def mask(q_idx, kv_idx, size: int):
        return q_idx - kv_idx < size

    def logits(logit, size: float):
        return logit * size

    with pytest.raises(Untranslatable, match="'size' is another number here"):
        define_variant(mask_fn=mask, logits_fn=logits)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({}, TypeError, "scalar 'window_size' is missing; pass a float"),
        ({"window_size": 3, "size": 4}, TypeError, "has no scalar 'size'; it has window_size"),
        ({"window_size": torch.ones(1)}, TypeError, "scalar 'window_size' is a Tensor; it is one"),
    ],
)
def test_scalars_that_are_not_right_are_refused(
    given: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=f"op: .*{said}"):
        define_variant(mask_fn=sliding_window_mask).values("op", given)


@pytest.mark.parametrize(("value", "error"), [(2.5, TypeError), (1 << 40, ValueError)])
def test_a_whole_number_is_one_of_32_bits(value: float, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"op: scalar 'gain' is "):
        define_variant(logits_fn=scaled).values("op", {"gain": value})


_PLAIN = "struct Mine : fictl::attention::Plain { };"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "there is no mask_fn"),
        ({"mask_mode": "CUSTOM", "logits_fn": scaled}, "'CUSTOM', and there is no 'mask_fn'"),
        ({"mask_mode": "NONE", "mask_fn": sliding_window_mask}, "'NONE', and there is a 'mask_fn'"),
        ({"mask_mode": "WINDOW", "mask_fn": sliding_window_mask}, "one of NONE, CAUSAL, CUSTOM"),
        ({"text": "int x;"}, "no struct that derives"),
        ({"text": _PLAIN}, "write `static Mine of"),
        ({"text": _PLAIN, "logits_fn": scaled}, "pass one"),
        ({"mask_fn": sliding_window_mask, "scalars": ("a",)}, "without 'text'"),
        ({"mask_fn": lambda q_idx, kv_idx, out: q_idx > out}, "cannot be called 'out'"),
    ],
)
def test_what_is_no_variant_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        define_variant(**given)


def test_a_function_without_translation_says_its_line() -> None:
    def mask(q_idx, kv_idx):
        return torch.roll(q_idx, 1) > kv_idx

    line = mask.__code__.co_firstlineno + 1
    with pytest.raises(
        Untranslatable, match=rf"test_define_variant.py:{line}:16: mask: 'torch.roll'"
    ):
        define_variant(mask_fn=mask)
