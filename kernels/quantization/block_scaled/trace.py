"""Traces of the block-scaled quantizers; reference.py has what they compute."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

from . import reference


def _global_scale(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """The scale for normal random numbers, the largest of which is about 5."""
    return {"global_scale": torch.full((1,), 448 * 6 / 5.0, device=device)}


def _a_global_sf(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    return {"a_global_sf": torch.full((1,), 448 * 6 / 5.0, device=device)}


def _bytes(shape: list[int], device: str, generator: torch.Generator, to: int) -> torch.Tensor:
    return torch.randint(0, to, shape, device=device, generator=generator).to(torch.uint8)


def _quantized_fp4(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Any values; any scales that are positive numbers."""
    return {
        "e2m1_tensor": _bytes([sizes["rows"], sizes["packed"]], device, generator, 256),
        "ufp8_scale_tensor": _bytes([sizes["sf_rows"], sizes["sf_cols"]], device, generator, 127),
        "global_scale_tensor": torch.full((1,), 5 / (448 * 6.0), device=device),
    }


def _quantized_mxfp4(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    return {
        "a_fp4": _bytes([sizes["rows"], sizes["packed"]], device, generator, 256),
        "a_sf": _bytes([sizes["sf_rows"], sizes["sf_cols"]], device, generator, 251),
    }


def _quantized_mxfp8(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Scales with which no value is too large for fp32."""
    return {"scale_tensor": _bytes([sizes["scales"]], device, generator, 245)}


_EXACT = {"float8_e4m3fn": (0.0, 0.0), "float32": (0.0, 0.0), "bfloat16": (0.0, 0.0)}
_ROWS = Var("rows of values")
_COLS = Const("values a row", "k")
_ONE = Const("one number for all", value=1)
_AXES: dict[str, Var | Const | Expr] = {
    "rows": _ROWS,
    "cols": _COLS,
    "one": _ONE,
    "packed": Expr("cols // 2", "bytes of a row"),
}
_LAYOUT_SAYS = ("sfLayout < 2", "sfLayout == 1")
_FLAGS_SAY = ("is_sf_swizzled_layout", "is_sf_8x4_layout")


def _scales(blocks: str, in_tiles: str, of_8_rows: str) -> dict[str, Expr]:
    """The axes of the scales in memory; `of_8_rows` matters only where `in_tiles` holds."""
    of_128 = f"(rows + 127) // 128 * 128 * (({in_tiles}) and not ({of_8_rows}))"
    of_8 = f"(rows + 7) // 8 * 8 * (({in_tiles}) and ({of_8_rows}))"
    padded = f"({blocks} + 3) // 4 * 4 * ({in_tiles})"
    return {
        "sf_rows": Expr(f"{of_128} + {of_8} + rows * (not ({in_tiles}))", "rows, padded"),
        "sf_cols": Expr(f"{padded} + {blocks} * (not ({in_tiles}))", "blocks, padded"),
    }


_ALIGNED = "((cols + alignment - 1) // alignment * alignment)"
_LAYOUT = Scalar("int32", 0, "SfLayout of the scales")
_FLAGS = {
    "is_sf_swizzled_layout": Scalar("bool", value=True, doc="scales in tiles"),
    "is_sf_8x4_layout": Scalar("bool", value=False, doc="of 8 rows, not 128"),
}
_NOT_4OVER6 = Scalar("bool", value=False, doc="only that")
_FP4_OUT = {
    "out": Tensor(("rows", "packed"), dtype="uint8", doc="e2m1, two in a byte"),
    "out_sf": Tensor(("sf_rows", "sf_cols"), dtype="uint8", doc="scales of blocks"),
}

mxfp8_quantize = TraceTemplate(
    axes={
        "rows": _ROWS,
        "cols": _COLS,
        "padded": Expr(_ALIGNED, "values a row, padded"),
        "scales": Expr(
            f"(rows + 127) // 128 * 128 * (({_ALIGNED} // 32 + 3) // 4 * 4) * is_sf_swizzled_layout"
            f" + rows * ({_ALIGNED} // 32) * (not is_sf_swizzled_layout)",
            "scales, padded",
        ),
    },
    inputs={
        "input": Tensor(("rows", "cols")),
        "is_sf_swizzled_layout": _FLAGS["is_sf_swizzled_layout"],
        "alignment": Scalar("int32", 32, "of which the rows of out are a multiple"),
        "sf_swizzle_layout": _LAYOUT,
    },
    outputs={
        "out": Tensor(("rows", "padded"), dtype="float8_e4m3fn"),
        "out_sf": Tensor(("scales",), dtype="uint8", doc="powers of two, 127 for 1"),
    },
    reference=reference.mxfp8_quantize,
    constraints=("cols % 32 == 0", "alignment > 0", "alignment % 32 == 0"),
    tolerances=_EXACT,
    description="Quantize to e4m3 with a power of two for every block of 32.",
)

mxfp4_quantize = TraceTemplate(
    axes={**_AXES, **_scales("cols // 32", *_LAYOUT_SAYS)},
    inputs={"a": Tensor(("rows", "cols")), "sfLayout": _LAYOUT},
    outputs=_FP4_OUT,
    reference=reference.mxfp4_quantize,
    constraints=("cols % 32 == 0",),
    description="Quantize to e2m1 with a power of two for every block of 32.",
)

nvfp4_quantize = TraceTemplate(
    axes={**_AXES, **_scales("cols // 16", *_LAYOUT_SAYS)},
    inputs={
        "a": Tensor(("rows", "cols")),
        "a_global_sf": Tensor(("one",), dtype="float32", doc="448 * 6 / the largest value"),
        "sfLayout": _LAYOUT,
        "do_shuffle": Scalar("bool", value=False, doc="only that"),
        "sf_vec_size": Scalar("int32", 16, "only that"),
        "per_token_activation": Scalar("bool", value=False, doc="only that"),
        "expanded_idx_to_permuted_idx": Tensor(("rows",), "int32", optional=True, doc="not taken"),
        "out_scale": Tensor(("one",), "float32", optional=True, doc="not taken"),
        "nvfp4_4over6": _NOT_4OVER6,
    },
    outputs=_FP4_OUT,
    reference=reference.nvfp4_quantize,
    constraints=("cols % 16 == 0",),
    init=_a_global_sf,
    description="Quantize to e2m1 with an e4m3 scale for every block of 16.",
)

fp4_quantize = TraceTemplate(
    axes={**_AXES, **_scales("(cols // sf_vec_size)", *_FLAGS_SAY)},
    inputs={
        "input": Tensor(("rows", "cols")),
        "global_scale": Tensor(("one",), dtype="float32", doc="448 * 6 / the largest value"),
        "sf_vec_size": Scalar("int32", 16, "values a block"),
        "sf_use_ue8m0": Scalar("bool", value=False, doc="mxfp4, with blocks of 32"),
        **_FLAGS,
        "is_global_scale_inversed": Scalar("bool", value=False, doc="one over it is given"),
        "nvfp4_4over6": _NOT_4OVER6,
    },
    outputs=_FP4_OUT,
    reference=reference.fp4_quantize,
    constraints=("cols % sf_vec_size == 0", "sf_vec_size == 16 + 16 * sf_use_ue8m0"),
    init=_global_scale,
    description="Quantize to e2m1 with a scale for every block: nvfp4, or mxfp4.",
)

e2m1_and_ufp8sf_scale_to_float = TraceTemplate(
    axes={
        "rows": _ROWS,
        "packed": Const("bytes of a row", "p"),
        "one": _ONE,
        **_scales("(2 * packed // sf_vec_size)", *_FLAGS_SAY),
        "cols": Expr("2 * packed", "values a row"),
    },
    inputs={
        "e2m1_tensor": Tensor(("rows", "packed"), doc="two values in a byte"),
        "ufp8_scale_tensor": Tensor(("sf_rows", "sf_cols"), dtype="uint8"),
        "global_scale_tensor": Tensor(("one",), dtype="float32", optional=True),
        "sf_vec_size": Scalar("int32", 16, "values a block"),
        "ufp8_type": Scalar("int32", 1, "scales are e4m3, or with 0 powers of two"),
        **_FLAGS,
    },
    outputs={"out": Tensor(("rows", "cols"), dtype="float32")},
    reference=reference.e2m1_and_ufp8sf_scale_to_float,
    constraints=("2 * packed % sf_vec_size == 0",),
    tolerances=_EXACT,
    init=_quantized_fp4,
    description="nvfp4 or mxfp4 to fp32.",
)

mxfp4_dequantize = TraceTemplate(
    axes={
        "rows": _ROWS,
        "packed": Const("bytes of a row", "p"),
        **_scales("packed // 16", *_LAYOUT_SAYS),
        "cols": Expr("2 * packed", "values a row"),
    },
    inputs={
        "a_fp4": Tensor(("rows", "packed"), doc="two values in a byte"),
        "a_sf": Tensor(("sf_rows", "sf_cols"), dtype="uint8", doc="powers of two, 127 for 1"),
        "sfLayout": _LAYOUT,
    },
    outputs={"out": Tensor(("rows", "cols"), dtype="float32")},
    reference=reference.mxfp4_dequantize,
    constraints=("packed % 16 == 0",),
    tolerances=_EXACT,
    init=_quantized_mxfp4,
    description="mxfp4 to fp32.",
)

mxfp8_dequantize = TraceTemplate(
    axes={
        "rows": _ROWS,
        "cols": _COLS,
        "scales": Expr(
            "(rows + 127) // 128 * 128 * ((cols // 32 + 3) // 4 * 4) * is_sf_swizzled_layout"
            " + rows * (cols // 32) * (not is_sf_swizzled_layout)",
            "scales, padded",
        ),
    },
    inputs={
        "input": Tensor(("rows", "cols")),
        "scale_tensor": Tensor(("scales",), dtype="uint8", doc="powers of two, 127 for 1"),
        "is_sf_swizzled_layout": _FLAGS["is_sf_swizzled_layout"],
        "sf_swizzle_layout": _LAYOUT,
    },
    outputs={"out": Tensor(("rows", "cols"), dtype="float32")},
    reference=reference.mxfp8_dequantize,
    constraints=("cols % 32 == 0",),
    tolerances=_EXACT,
    init=_quantized_mxfp8,
    description="mxfp8 to fp32.",
)

block_scale_interleave = TraceTemplate(
    axes={
        "rows": _ROWS,
        "blocks": Const("blocks a row", "b"),
        "scales": Expr("(rows + 127) // 128 * 128 * ((blocks + 3) // 4 * 4)", "scales, padded"),
    },
    inputs={"unswizzled_sf": Tensor(("rows", "blocks"))},
    outputs={"out": Tensor(("scales",), dtype_from="unswizzled_sf")},
    reference=reference.block_scale_interleave,
    tolerances=_EXACT,
    description="Scales of blocks from row-major order to tiles of 128 x 4.",
)
