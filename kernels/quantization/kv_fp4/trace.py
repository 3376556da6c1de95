"""Traces of nvfp4 as KV caches hold it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var

_LARGEST = torch.finfo(torch.float32).max


def _packed(x: torch.Tensor) -> torch.Tensor:
    """Round to the nearest e2m1, ties to even; pack two in a byte, the first in its low half."""
    size = x.abs()
    code = (size > 0.25).to(torch.uint8) + (size > 1.25) + (size > 2.5) + (size > 5)
    code = code + (size >= 0.75) + (size >= 1.75) + (size >= 3.5) + x.signbit().to(torch.uint8) * 8
    return code[..., 0::2] | code[..., 1::2] << 4


def _quantize(input: torch.Tensor, global_scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute in fp32, rounded at each step: exact to the byte."""
    blocks = input.float().reshape(*input.shape[:-1], input.shape[-1] // 16, 16)
    of_all = global_scale.float()
    wanted = blocks.abs().amax(-1) * (1 / (6 * of_all)).clamp(max=_LARGEST)
    scales = wanted.clamp(max=448).to(torch.float8_e4m3fn)
    factor = (1 / (scales.float() * of_all)).clamp(max=_LARGEST)
    factor = torch.where(scales.float() > 0, factor, 0.0)
    packed = _packed((blocks * factor[..., None]).flatten(-2))
    return packed, scales.view(torch.uint8)


def dequantized(packed: torch.Tensor, scales: torch.Tensor, of_all: torch.Tensor) -> torch.Tensor:
    """Compute the values in fp32: e2m1 times the scale is exact there."""
    code = torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()
    sizes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device=packed.device)
    decoded = scales.view(torch.float8_e4m3fn) if scales.dtype == torch.uint8 else scales
    of_blocks = decoded.float().repeat_interleave(16, -1)
    return torch.cat([sizes, -sizes])[code] * of_blocks * of_all.float()


def _dequantize(
    fp4_data: torch.Tensor,
    block_scales: torch.Tensor,
    global_scale: torch.Tensor,
) -> torch.Tensor:
    return dequantized(fp4_data, block_scales, global_scale)


def _dequantize_paged(
    paged_kv_cache: torch.Tensor,
    kv_cache_sf: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    output_k: torch.Tensor,
    output_v: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    page_size = paged_kv_cache.shape[2]
    outs = output_k.clone(), output_v.clone()
    for request, length in enumerate(seq_lens.tolist()):
        position = torch.arange(min(length, output_k.shape[1]), device=seq_lens.device)
        page = block_tables[request, position // page_size].long()
        for part, (out, scale) in enumerate(zip(outs, (k_scale, v_scale), strict=True)):
            at = page, part, position % page_size
            scales = (
                kv_cache_sf.view(torch.uint8) if kv_cache_sf.element_size() == 1 else kv_cache_sf
            )
            values = dequantized(paged_kv_cache[at], scales[at], scale)
            out[request, : len(position)] = values.to(out.dtype)
    return outs


def _global_scale(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make the scale for normal random numbers, the largest of which is about 5."""
    return {"global_scale": torch.full((1,), 5 / (448 * 6.0), device=device)}


def _quantized(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make any values, with any scales that are positive numbers."""
    scales = torch.randint(
        0, 127, (sizes["rows"], sizes["blocks"]), device=device, generator=generator
    )
    return {
        "block_scales": scales.to(torch.uint8),
        **_global_scale(sizes, dtype, device, generator),
    }


def _tables(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make pages in random order, and lengths from 0 to all positions."""
    requests, width = sizes["requests"], sizes["width"]
    pages = torch.randperm(sizes["pages"], device=device, generator=generator)
    shape = sizes["pages"], 2, sizes["page_size"], sizes["heads"], sizes["blocks"]
    scales = torch.randint(0, 127, shape, device=device, generator=generator).to(torch.uint8)
    share = torch.rand(requests, device=device, generator=generator)
    lengths = (share * (sizes["positions"] + 1)).int().clamp(max=sizes["positions"])
    return {
        "kv_cache_sf": scales,
        "block_tables": pages[: requests * width].view(requests, width).int(),
        "seq_lens": lengths,
        "k_scale": torch.full((1,), 0.01, device=device),
        "v_scale": torch.full((1,), 0.02, device=device),
    }


def _paged_bytes(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    """Count the positions that requests have."""
    tokens = int(inputs["seq_lens"].sum())
    values = 2 * sizes["heads"] * sizes["dim"]
    return int(tokens * values * (0.5 + 1 / 16 + inputs["output_k"].element_size()))


_ONE = Const("one number for all", value=1)

nvfp4_kv_quantize = TraceTemplate(
    axes={
        "rows": Var("rows of values"),
        "cols": Const("values a row", "k"),
        "one": _ONE,
        "packed": Expr("cols // 2", "bytes a row"),
        "blocks": Expr("cols // 16", "scales a row"),
    },
    inputs={
        "input": Tensor(("rows", "cols")),
        "global_scale": Tensor(("one",), dtype="float32", doc="by which all is multiplied"),
    },
    outputs={
        "out": Tensor(("rows", "packed"), dtype="uint8", doc="e2m1, two in a byte"),
        "out_sf": Tensor(("rows", "blocks"), dtype="uint8", doc="scales of 16, e4m3"),
    },
    reference=_quantize,
    constraints=("cols % 16 == 0",),
    init=_global_scale,
    extremes=("zeros", "small", "large"),
    description="Quantize to e2m1 with an e4m3 scale for 16, and one that multiplies all.",
)

nvfp4_kv_dequantize = TraceTemplate(
    axes={
        "rows": Var("rows of values"),
        "packed": Const("bytes a row", "p"),
        "one": _ONE,
        "blocks": Expr("packed // 8", "scales a row"),
        "cols": Expr("packed * 2", "values a row"),
    },
    inputs={
        "fp4_data": Tensor(("rows", "packed"), dtype="uint8", doc="e2m1, two in a byte"),
        "block_scales": Tensor(("rows", "blocks"), dtype="uint8", doc="scales of 16, e4m3"),
        "global_scale": Tensor(("one",), dtype="float32", doc="by which all is multiplied"),
    },
    outputs={"out": Tensor(("rows", "cols"), dtype="bfloat16")},
    reference=_dequantize,
    constraints=("packed % 8 == 0",),
    init=_quantized,
    at_default=("output_dtype",),
    description="Convert e2m1 with an e4m3 scale for 16, and one that multiplies all, to bf16.",
)

nvfp4_kv_dequantize_paged = TraceTemplate(
    axes={
        "requests": Var("requests"),
        "positions": Var("positions of the results"),
        "pages": Var("pages of the cache"),
        "page_size": Const("slots a page", "ps"),
        "width": Expr("(positions + page_size - 1) // page_size", "pages of a request"),
        "kv": Const("keys and values", value=2),
        "heads": Const("heads of keys and values", "h"),
        "dim": Const("values a head", "d"),
        "packed": Expr("dim // 2", "bytes a head"),
        "blocks": Expr("dim // 16", "scales a head"),
        "one": _ONE,
    },
    inputs={
        "paged_kv_cache": Tensor(("pages", "kv", "page_size", "heads", "packed"), dtype="uint8"),
        "kv_cache_sf": Tensor(("pages", "kv", "page_size", "heads", "blocks"), dtype="uint8"),
        "block_tables": Tensor(("requests", "width"), dtype="int32", doc="pages of requests"),
        "seq_lens": Tensor(("requests",), dtype="int32", doc="lengths of requests"),
        "k_scale": Tensor(("one",), dtype="float32", doc="by which all keys are multiplied"),
        "v_scale": Tensor(("one",), dtype="float32", doc="by which all values are multiplied"),
        "output_k": Tensor(("requests", "positions", "heads", "dim")),
        "output_v": Tensor(("requests", "positions", "heads", "dim"), dtype_from="output_k"),
    },
    outputs={
        "output_k": Tensor(("requests", "positions", "heads", "dim")),
        "output_v": Tensor(("requests", "positions", "heads", "dim"), dtype_from="output_k"),
    },
    reference=_dequantize_paged,
    constraints=("dim % 16 == 0", "pages >= requests * width"),
    init=_tables,
    bytes=_paged_bytes,
    description="Convert the pages of requests of a cache of nvfp4 to rows of 16 bits.",
)
