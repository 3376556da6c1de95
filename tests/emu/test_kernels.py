"""Whole kernels of the kinds that inference is made of, against references in fp64."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest
import torch

from fictl.emu.device import EmulatedDevice, Watched
from fictl.emu.schedule import Schedule

SUCCESS, INVALID_VALUE = 0, 1
Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Case:
    """One call: its arguments, tensors by name; and what must be in its outputs afterwards."""

    file: str
    function: str
    arguments: tuple[str | int | float, ...]
    inputs: Tensors
    outputs: Tensors
    verify: Callable[[Tensors], None]

    def call(self, library: ctypes.CDLL, device: EmulatedDevice) -> int:
        tensors = {**self.inputs, **self.outputs}
        device.watch([_watched(name, x, name in self.outputs) for name, x in tensors.items()])
        converted = [_c(tensors[x]) if isinstance(x, str) else _c(x) for x in self.arguments]
        return int(getattr(library, self.function)(*converted))


def _watched(name: str, x: torch.Tensor, writable: bool) -> Watched:
    return Watched(name, x.data_ptr(), x.itemsize, tuple(x.shape), x.stride(), writable)


def _c(value: torch.Tensor | float) -> Any:
    if isinstance(value, torch.Tensor):
        return ctypes.c_void_p(value.data_ptr())
    return ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int(value)


def close(name: str, expected: torch.Tensor, extra: float) -> Callable[[Tensors], None]:
    """Equal but for one rounding to the type of the result, and `extra`."""

    def verify(outputs: Tensors) -> None:
        actual = outputs[name]
        rounding = torch.finfo(actual.dtype).eps / 2 if actual.is_floating_point() else 0.0
        torch.testing.assert_close(actual.double(), expected, rtol=rounding, atol=extra)

    return verify


def untouched(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.full(shape, -7.0).to(dtype)


# ---- C = A B^T ----

OPERANDS = {
    "float16": (torch.float16, torch.float16),
    "bfloat16": (torch.bfloat16, torch.bfloat16),
    "tf32": (torch.float32, torch.float32),
    "int8": (torch.int8, torch.int32),
    "float8_e4m3fn": (torch.float8_e4m3fn, torch.float32),
}


def gemm(kind: str, m: int, n: int, k: int) -> Case:
    torch.manual_seed(0)
    dtype, out_dtype = OPERANDS[kind]
    a, b = (_matrix(rows, k, dtype) for rows in (m, n))
    left, right = (_to_tf32(x).double() if kind == "tf32" else x.double() for x in (a, b))
    return Case(
        "gemm.cu",
        f"gemm_{kind}",
        ("a", "b", "out", m, n, k, a.stride(0), b.stride(0)),
        {"a": a, "b": b},
        {"out": untouched(out_dtype, m, n)},
        close("out", left @ right.T, 0.0 if kind == "int8" else 1e-4),
    )


def _matrix(rows: int, cols: int, dtype: torch.dtype) -> torch.Tensor:
    """Rows of any length that begin at multiples of 16 bytes."""
    in_16_bytes = 16 // dtype.itemsize
    pitch = max(-(-cols // in_16_bytes), 1) * in_16_bytes
    values = torch.randn(rows, pitch)
    return (values * 40 if dtype == torch.int8 else values).to(dtype)[:, :cols]


def _to_tf32(x: torch.Tensor) -> torch.Tensor:
    """To 10 bits of mantissa; ties away from zero."""
    bits = x.contiguous().view(torch.int32)
    return ((bits + (1 << 12)) & ~((1 << 13) - 1)).view(torch.float32)


# ---- attention ----


def prefill(
    dtype: torch.dtype, queries: int, keys: int, heads: tuple[int, int], dim: int, causal: bool
) -> Case:
    torch.manual_seed(0)
    query = torch.randn(queries, heads[0], dim).to(dtype)
    key, value = (torch.randn(keys, heads[1], dim).to(dtype) for _ in range(2))
    scale = dim**-0.5
    scores = torch.einsum("qhd,khd->hqk", query.double(), _by_head(key, heads)) * scale
    if causal:
        seen = torch.ones(queries, keys).tril(keys - queries).bool()
        scores = scores.masked_fill(~seen, float("-inf"))
    # Of a query that sees no key, softmax is 0 / 0, and attention nothing.
    weights = torch.softmax(scores, -1).nan_to_num(0.0)
    name = str(dtype).removeprefix("torch.")
    return Case(
        "prefill.cu",
        f"prefill_{name}",
        ("query", "key", "value", "out", queries, keys, *heads, dim, int(causal), scale),
        {"query": query, "key": key, "value": value},
        {"out": untouched(dtype, *query.shape)},
        # The weights are rounded to the type of the values.
        close(
            "out", torch.einsum("hqk,khd->qhd", weights, _by_head(value, heads)), 2 * _eps(dtype)
        ),
    )


def decode(
    dtype: torch.dtype, lengths: tuple[int, ...], heads: tuple[int, int], page_size: int
) -> Case:
    torch.manual_seed(0)
    dim = 128
    scale = dim**-0.5
    pages = [-(-length // page_size) for length in lengths]
    order = torch.randperm(sum(pages) + 3).to(torch.int32)
    # Beyond its pages, a row of the table names one that does not exist.
    table = torch.full((len(lengths), max(pages) + 1), 1 << 20, dtype=torch.int32)
    for row, chosen in enumerate(order[: sum(pages)].split(pages)):
        table[row, : len(chosen)] = chosen
    key, value = (torch.randn(len(order), page_size, heads[1], dim).to(dtype) for _ in range(2))
    query = torch.randn(len(lengths), heads[0], dim).to(dtype)
    expected = torch.zeros(query.shape, dtype=torch.float64)
    for row, length in enumerate(lengths):
        used = table[row, : pages[row]].long()
        own_key, own_value = (
            _by_head(cache[used].flatten(0, 1)[:length], heads) for cache in (key, value)
        )
        scores = torch.einsum("hd,khd->hk", query[row].double(), own_key) * scale
        expected[row] = torch.einsum("hk,khd->hd", torch.softmax(scores, -1), own_value)
    name = str(dtype).removeprefix("torch.")
    return Case(
        "decode.cu",
        f"decode_{name}",
        (
            *("query", "key", "value", "table", "lengths", "out", len(lengths), *heads, page_size),
            *(table.stride(0), scale),
        ),
        {
            "query": query,
            "key": key,
            "value": value,
            "table": table,
            "lengths": torch.tensor(lengths, dtype=torch.int32),
        },
        {"out": untouched(dtype, *query.shape)},
        close("out", expected, 1e-5),
    )


def _by_head(x: torch.Tensor, heads: tuple[int, int]) -> torch.Tensor:
    """Keys or values of each query head, in fp64."""
    return x.double().repeat_interleave(heads[0] // heads[1], dim=1)


def _eps(dtype: torch.dtype) -> float:
    return float(torch.finfo(dtype).eps)


# ---- sampling ----


def top_p(file: str, rows: int, vocab: int, p: float) -> Case:
    torch.manual_seed(0)
    logits = torch.randn(rows, vocab) * 2
    uniform = torch.rand(rows)

    def verify(outputs: Tensors) -> None:
        probability = torch.softmax(logits.double(), -1)
        for row in range(rows):
            kept, token = int(outputs["kept"][row]), int(outputs["token"][row])
            falling, order = probability[row].sort(descending=True)
            below = falling.cumsum(0)
            assert (below < p - 1e-6).sum() < kept <= (below < p + 1e-6).sum() + 1
            nucleus = torch.zeros(vocab, dtype=torch.float64)
            nucleus[order[:kept]] = falling[:kept] / falling[:kept].sum()
            assert nucleus[token] > 0
            up_to = nucleus.cumsum(0)[token]
            assert up_to - nucleus[token] - 1e-5 <= uniform[row] <= up_to + 1e-5

    return Case(
        f"{file}.cu",
        file,
        ("logits", "uniform", p, rows, vocab, "token", "kept"),
        {"logits": logits, "uniform": uniform},
        {name: untouched(torch.int32, rows) for name in ("token", "kept")},
        verify,
    )


CASES = [
    *(partial(gemm, kind, 128, 64, 128) for kind in OPERANDS),
    *(partial(gemm, kind, 77, 93, 45) for kind in OPERANDS),
    partial(gemm, "float16", 1, 1, 1),
    partial(gemm, "float16", 65, 3, 0),
    partial(prefill, torch.float16, 128, 256, (2, 1), 128, True),
    partial(prefill, torch.float16, 50, 77, (2, 1), 128, False),
    partial(prefill, torch.bfloat16, 67, 131, (3, 3), 128, True),
    partial(prefill, torch.float16, 130, 200, (2, 1), 64, True),
    partial(prefill, torch.bfloat16, 33, 65, (4, 2), 64, False),
    partial(prefill, torch.float16, 140, 70, (1, 1), 128, True),
    partial(prefill, torch.float16, 3, 0, (1, 1), 128, False),
    partial(decode, torch.float16, (131, 33, 0, 1), (8, 2), 16),
    partial(decode, torch.bfloat16, (70, 17), (3, 1), 5),
    partial(decode, torch.float16, (64,), (8, 1), 1),
    *(partial(top_p, file, 3, 1000, 0.8) for file in ("top_p", "top_p_cub")),
    *(partial(top_p, file, 2, 256, 1.0) for file in ("top_p", "top_p_cub")),
    partial(top_p, "top_p", 4, 7, 0.05),
]


def _name(make: Callable[[], Case]) -> str:
    assert isinstance(make, partial)
    words = (str(x).removeprefix("torch.").replace(" ", "") for x in make.args)
    return "-".join([make.func.__name__, *words])


@pytest.mark.parametrize("make", CASES, ids=_name)
def test_a_kernel_computes_what_its_reference_does(
    make: Callable[[], Case],
    schedule: Schedule,
    emulate: Callable[..., ctypes.CDLL],
    device: EmulatedDevice,
) -> None:
    case = make()
    device.run_under(schedule)
    assert case.call(emulate(case.file), device) == SUCCESS
    case.verify(case.outputs)


@pytest.mark.parametrize("make", CASES, ids=_name)
def test_check_mode_has_nothing_to_report_of_a_correct_kernel(
    make: Callable[[], Case],
    schedule: Schedule,
    emulate: Callable[..., ctypes.CDLL],
    device: EmulatedDevice,
) -> None:
    case = make()
    library = emulate(case.file, checked=True)
    device.run_under(schedule)
    status = case.call(library, device)
    assert [report.text() for report in device.take_reports()] == []
    assert status == SUCCESS
    case.verify(case.outputs)


def _with_pitch(case: Case, pitch: int) -> Case:
    return replace(case, arguments=(*case.arguments[:-2], pitch, pitch))


def _with_heads(case: Case, *heads: int) -> Case:
    return replace(case, arguments=(*case.arguments[:6], *heads, *case.arguments[8:]))


@pytest.mark.parametrize(
    "make",
    [
        lambda: _with_pitch(gemm("float16", 8, 8, 24), 28),
        lambda: _with_pitch(gemm("float16", 8, 8, 24), 16),
        lambda: prefill(torch.float16, 8, 8, (1, 1), 32, False),
        lambda: _with_heads(prefill(torch.float16, 8, 8, (4, 4), 64, False), 4, 3),
        lambda: decode(torch.float16, (5,), (9, 1), 4),
        lambda: top_p("top_p", 1, 8, 0.0),
        lambda: top_p("top_p", 1, 60_000, 0.5),
    ],
    ids=[
        "rows that cp.async cannot copy",
        "rows that overlap",
        "a head_dim without a kernel",
        "heads that no number of key heads shares",
        "more query heads than warps",
        "an empty nucleus",
        "a row that shared memory does not hold",
    ],
)
def test_what_a_kernel_cannot_do_is_refused_before_anything_is_written(
    make: Callable[[], Case], emulate: Callable[..., ctypes.CDLL], device: EmulatedDevice
) -> None:
    case = make()
    assert case.call(emulate(case.file), device) == INVALID_VALUE
    assert all(bool((x == -7).all()) for x in case.outputs.values())
