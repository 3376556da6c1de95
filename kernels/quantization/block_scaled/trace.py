"""What the block-scaled formats hold, byte by byte: arithmetic is fp32, each step rounded."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var


def _e2m1(x: torch.Tensor) -> torch.Tensor:
    """To the nearest, of two to the even; two in a byte, the first in its low half."""
    size = x.abs()
    code = (size > 0.25).to(torch.uint8) + (size > 1.25) + (size > 2.5) + (size > 5)
    code = code + (size >= 0.75) + (size >= 1.75) + (size >= 3.5) + x.signbit().to(torch.uint8) * 8
    return code[..., 0::2] | code[..., 1::2] << 4


def _from_e2m1(packed: torch.Tensor) -> torch.Tensor:
    code = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2).long()
    sizes = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device=packed.device)
    return torch.cat([sizes, -sizes])[code]


def _tiled(scales: torch.Tensor, tile_rows: int) -> torch.Tensor:
    """From row-major to tiles of so many rows and four columns, padded with zeros."""
    rows, cols = scales.shape
    padding = (0, -cols % 4, 0, -rows % tile_rows)
    padded = torch.nn.functional.pad(scales, padding)
    height = min(tile_rows, 32)
    tiles = padded.view(-1, tile_rows // height, height, padded.shape[1] // 4, 4)
    return tiles.permute(0, 3, 2, 1, 4).reshape(padded.shape)


def _laid_out(scales: torch.Tensor, layout: int) -> torch.Tensor:
    return scales if layout == 2 else _tiled(scales, 128 if layout == 0 else 8)


def _row_major(scales: torch.Tensor, rows: int, cols: int, layout: int) -> torch.Tensor:
    if layout == 2:
        return scales.reshape(rows, cols)
    width, height, heights = -(-cols // 4), (32, 8)[layout], (4, 1)[layout]
    tiles = scales.reshape(-1, width, height, heights, 4)
    return tiles.permute(0, 3, 2, 1, 4).reshape(-1, width * 4)[:rows, :cols]


def _powers_of_two(x: torch.Tensor, most: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Values over the scales of their blocks of 32, and the scales' exponents, rounded up."""
    blocks = x.float().reshape(*x.shape[:-1], x.shape[-1] // 32, 32)
    largest = blocks.abs().amax(-1)
    mantissa, exponent = torch.frexp(largest * (1 / most))
    exponent = torch.where(mantissa > 0.5, exponent, exponent - 1)
    exponent = torch.where(largest > 0, exponent, -127).clamp(-127, 127)
    factor = torch.exp2(-exponent.double()).float()
    return (blocks * factor[..., None]).flatten(-2), (exponent + 127).to(torch.uint8).flatten(0, -2)


def _layout(is_swizzled: bool, said: int | None) -> int:
    return said if said is not None else 0 if is_swizzled else 2


def _mxfp8_quantize(
    input: torch.Tensor, is_sf_swizzled_layout: bool, alignment: int, sf_swizzle_layout: int | None
) -> tuple[torch.Tensor, torch.Tensor]:
    padded = torch.nn.functional.pad(input, (0, -input.shape[-1] % alignment))
    values, scales = _powers_of_two(padded, 448.0)
    layout = _layout(is_sf_swizzled_layout, sf_swizzle_layout)
    return values.to(torch.float8_e4m3fn), _laid_out(scales, layout).flatten()


def _mxfp4_quantize(a: torch.Tensor, sfLayout: int) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: N803
    values, scales = _powers_of_two(a, 6.0)
    return _e2m1(values), _laid_out(scales, sfLayout)


def _nvfp4(a: torch.Tensor, scale: torch.Tensor, layout: int) -> tuple[torch.Tensor, torch.Tensor]:
    blocks = a.float().reshape(*a.shape[:-1], a.shape[-1] // 16, 16)
    scale = scale.float().reshape(-1, *[1] * (a.ndim - 1))
    wanted = blocks.abs().amax(-1) * (scale * (1 / 6))
    scales = wanted.clamp(max=448).to(torch.float8_e4m3fn)
    factor = (1 / (scales.float() * (1 / scale))).clamp(max=torch.finfo(torch.float32).max)
    packed = _e2m1((blocks * factor[..., None]).flatten(-2))
    return packed, _laid_out(scales.view(torch.uint8).flatten(0, -2), layout)


def _nvfp4_quantize(
    a: torch.Tensor,
    a_global_sf: torch.Tensor,
    sfLayout: int,  # noqa: N803
    do_shuffle: bool,
    sf_vec_size: int,
    per_token_activation: bool,
    expanded_idx_to_permuted_idx: torch.Tensor | None,
    out_scale: torch.Tensor | None,
    nvfp4_4over6: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    return _nvfp4(a, a_global_sf, sfLayout)


def _fp4_quantize(
    input: torch.Tensor,
    global_scale: torch.Tensor,
    sf_vec_size: int,
    sf_use_ue8m0: bool,
    is_sf_swizzled_layout: bool,
    is_sf_8x4_layout: bool,
    is_global_scale_inversed: bool,
    nvfp4_4over6: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    layout = (1 if is_sf_8x4_layout else 0) if is_sf_swizzled_layout else 2
    if sf_use_ue8m0:
        return _mxfp4_quantize(input, layout)
    scale = global_scale.float()
    return _nvfp4(input, 1 / scale if is_global_scale_inversed else scale, layout)


def _mxfp8_dequantize(
    input: torch.Tensor,
    scale_tensor: torch.Tensor,
    is_sf_swizzled_layout: bool,
    sf_swizzle_layout: int | None,
) -> torch.Tensor:
    rows, cols = input.shape
    layout = _layout(is_sf_swizzled_layout, sf_swizzle_layout)
    scales = _row_major(scale_tensor, rows, cols // 32, layout)
    return input.float() * torch.exp2(scales.double() - 127).float().repeat_interleave(32, -1)


def _e2m1_and_ufp8sf_scale_to_float(
    e2m1_tensor: torch.Tensor,
    ufp8_scale_tensor: torch.Tensor,
    global_scale_tensor: torch.Tensor | None,
    sf_vec_size: int,
    ufp8_type: int,
    is_sf_swizzled_layout: bool,
    is_sf_8x4_layout: bool,
) -> torch.Tensor:
    values = _from_e2m1(e2m1_tensor)
    rows, cols = values.shape
    layout = (1 if is_sf_8x4_layout else 0) if is_sf_swizzled_layout else 2
    scales = _row_major(ufp8_scale_tensor, rows, cols // sf_vec_size, layout)
    if ufp8_type == 1:
        decoded = scales.contiguous().view(torch.float8_e4m3fn).float()
    else:
        decoded = torch.exp2(scales.double() - 127).float()
    if global_scale_tensor is not None:
        decoded = decoded * global_scale_tensor.float()
    return values * decoded.repeat_interleave(sf_vec_size, -1)


def _mxfp4_dequantize(
    a_fp4: torch.Tensor,
    a_sf: torch.Tensor,
    sfLayout: int,  # noqa: N803
) -> torch.Tensor:
    flags = sfLayout < 2, sfLayout == 1
    return _e2m1_and_ufp8sf_scale_to_float(a_fp4, a_sf, None, 32, 0, *flags)


def _block_scale_interleave(unswizzled_sf: torch.Tensor) -> torch.Tensor:
    return _tiled(unswizzled_sf, 128).flatten()


def _global_scale(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Of normal random numbers, of which the largest is some 5."""
    return {"global_scale": torch.full((1,), 448 * 6 / 5.0, device=device)}


def _a_global_sf(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    return {"a_global_sf": torch.full((1,), 448 * 6 / 5.0, device=device)}


def _bytes(shape: list[int], device: str, generator: torch.Generator, to: int) -> torch.Tensor:
    made = torch.randint(0, to, shape, device=device, generator=generator)
    return made.to(torch.uint8)


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
    """The matrix of scales in memory; of the conditions the second is asked where the first holds."""
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
    reference=_mxfp8_quantize,
    constraints=("cols % 32 == 0", "alignment > 0", "alignment % 32 == 0"),
    tolerances=_EXACT,
    description="Quantize to e4m3 with a power of two for every block of 32.",
)

mxfp4_quantize = TraceTemplate(
    axes={**_AXES, **_scales("cols // 32", *_LAYOUT_SAYS)},
    inputs={"a": Tensor(("rows", "cols")), "sfLayout": _LAYOUT},
    outputs=_FP4_OUT,
    reference=_mxfp4_quantize,
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
    reference=_nvfp4_quantize,
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
    reference=_fp4_quantize,
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
    reference=_e2m1_and_ufp8sf_scale_to_float,
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
    reference=_mxfp4_dequantize,
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
    reference=_mxfp8_dequantize,
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
    reference=_block_scale_interleave,
    tolerances=_EXACT,
    description="Scales of blocks from row-major order to tiles of 128 x 4.",
)
