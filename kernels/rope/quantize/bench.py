"""Sizes of rope_quantize that users meet: grouped heads and MLA, steps of decoding and prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from .trace import mla_rope_quantize_fp8, rope_quantize_fp8

_NOPE = ("q_nope", "k_nope")
# tokens, qo_heads, kv_heads, rope_dim, nope_dim
_SMALL = ((1, 2, 1, 2, 3), (5, 6, 2, 64, 64), (3, 4, 1, 32, 80))
_SIZES = ((64, 32, 8, 64, 64), (16384, 32, 8, 64, 64), (16384, 64, 8, 64, 64))
# tokens, qo_heads, rope_dim, nope_dim
_MLA_SMALL = ((3, 4, 6, 10), (5, 8, 64, 512))
_MLA = ((64, 128, 64, 512), (4096, 128, 64, 512), (4096, 16, 64, 512))
# tokens, requests, used pages, page_size; then as above
_APPEND_SMALL = ((7, 2, 4, 4, 3, 2, 6, 5), (20, 3, 6, 8, 4, 2, 64, 64))
_APPEND = ((64, 64, 64 * 64, 16, 32, 8, 64, 64), (16384, 16, 1024, 16, 32, 8, 64, 64))
_POSITIONS = 4096


def cases() -> Iterator[Case]:
    for sizes in _SMALL:
        yield _case("rope_quantize_fp8", _heads(*sizes), "float16")
    for sizes in (*_SMALL, *_SIZES):
        yield _case("rope_quantize_fp8", _heads(*sizes), "bfloat16")
    for mla in (*_MLA_SMALL, *_MLA):
        names = ("tokens", "qo_heads", "rope_dim", "nope_dim")
        yield _case("mla_rope_quantize_fp8", dict(zip(names, mla, strict=True)), "bfloat16")
    for tokens, requests, used, page_size, *heads in (*_APPEND_SMALL, *_APPEND):
        pages = {
            "len_indptr": requests + 1,
            "pages": used + used // 8,
            "used_pages": used,
            "page_size": page_size,
        }
        all_sizes = _heads(tokens, *heads) | pages
        yield _case("rope_quantize_fp8_append_paged_kv_cache", all_sizes, "bfloat16")


def _heads(
    tokens: int, qo_heads: int, kv_heads: int, rope_dim: int, nope_dim: int
) -> dict[str, int]:
    return {
        "tokens": tokens,
        "qo_heads": qo_heads,
        "kv_heads": kv_heads,
        "rope_dim": rope_dim,
        "nope_dim": nope_dim,
    }


def _case(function: str, sizes: dict[str, int], dtype: str) -> Case:
    few = sizes["tokens"] < 64
    return Case(function, sizes | {"max_positions": 8 if few else _POSITIONS}, dtype, _NOPE)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    if function == "rope_quantize_fp8_append_paged_kv_cache":
        return {"flashinfer": _flashinfer_append}
    reference = {
        "rope_quantize_fp8": rope_quantize_fp8.reference,
        "mla_rope_quantize_fp8": mla_rope_quantize_fp8.reference,
    }[function]

    def torch_fp8(**inputs: Any) -> tuple[torch.Tensor, ...]:
        return tuple(_fp8(x) for x in reference(**inputs))

    def flashinfer(**inputs: Any) -> Callable[[], Any]:
        return _flashinfer(function, inputs)

    return {"torch": torch_fp8, "inductor": compiled(torch_fp8), "flashinfer": flashinfer}


def _fp8(x: torch.Tensor) -> torch.Tensor:
    most = torch.finfo(torch.float8_e4m3fn).max
    return x.clamp(-most, most).to(torch.float8_e4m3fn)


def _flashinfer(function: str, inputs: dict[str, Any]) -> Callable[[], Any]:
    rope: Any = import_module("flashinfer.rope")
    outs = {
        f"{name}_out": torch.empty_like(inputs[name], dtype=torch.float8_e4m3fn)
        for name in ("q_rope", "k_rope", "q_nope", "k_nope")
    }
    return lambda: getattr(rope, function)(**inputs, **outs, enable_pdl=True)


def _flashinfer_append(paged_kv_cache: torch.Tensor, **inputs: Any) -> Callable[[], Any]:
    rope: Any = import_module("flashinfer.rope")
    caches = tuple(paged_kv_cache.unbind(1))
    outs = {
        f"{name}_out": torch.empty_like(inputs[name], dtype=torch.float8_e4m3fn)
        for name in ("q_rope", "q_nope")
    }

    def run() -> tuple[torch.Tensor, ...]:
        written = rope.rope_quantize_fp8_append_paged_kv_cache(
            paged_kv_cache=caches, **inputs, **outs, enable_pdl=True
        )
        return (*written, paged_kv_cache)

    return run
