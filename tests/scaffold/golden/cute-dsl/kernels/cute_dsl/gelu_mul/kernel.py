"""gelu_mul: out = gelu(x) * gate * factor, element by element, in fp32 and rounded once.

Traffic: every element is read once and written once. Nothing is reused, so the limit is the
memory's bandwidth.

Tiling: a block of 256 threads takes a part of one row, a vector of 16 bytes of each input a thread,
and there are as many blocks as parts. With 40 registers a thread, 1536 threads per SM keep 24 KiB of
each input in flight, where about 25 KiB cover the latency of HBM. A dense tensor is one row. A thread
at the end of a row goes element by element.

Compiled with the op, for each of its architectures, and never imported when the op runs. Arguments
that variants() marks with `:16` are multiples of 16 (pointers: of 16 bytes), which vectors need;
another variant serves calls where they are not, with the elements of a block spread over its threads.
"""

# mypy: ignore-errors
# Why: what CuTe DSL makes of these functions is not what Python would, and it reads annotations.

from collections.abc import Iterator
from typing import Any

import cutlass
from cutlass import Constexpr, Float32, Int32, Int64, cute


def _gelu(x: Any) -> Any:
    return 0.5 * x * (1.0 + cute.math.erf(x * 0.7071067811865476))


@cute.jit
def _part(
    out: cute.Pointer, x: cute.Pointer, gate: cute.Pointer, factor: Float32, width: Constexpr
) -> None:
    """Compute `width` elements from pointers, as vectors."""
    layout = cute.make_layout(width)
    x = cute.make_tensor(x, layout).load().to(Float32)
    gate = cute.make_tensor(gate, layout).load().to(Float32)
    factor = cute.full_like(x, factor)
    computed = _gelu(x) * gate * factor
    cute.make_tensor(out, layout).store(computed.to(out.dtype))


@cute.kernel
def gelu_mul(
    out: cute.Pointer,
    x: cute.Pointer,
    gate: cute.Pointer,
    factor: Float32,
    cols: Int64,
    out_pitch: Int64,
    x_pitch: Int64,
    gate_pitch: Int64,
    block: Constexpr,
) -> None:
    thread, _, _ = cute.arch.thread_idx()
    program, _, _ = cute.arch.block_idx()
    blocks = Int32((cols + block - 1) // block)
    row = program // blocks
    first = Int64(program - row * blocks) * block
    row = Int64(row)
    width = cutlass.const_expr(128 // x.dtype.width)
    if cutlass.const_expr(x.alignment % 16 == 0):
        col = first + thread * width
        if col + width <= cols:
            _part(
                out + cute.assume(row * out_pitch + col, divby=width),
                x + cute.assume(row * x_pitch + col, divby=width),
                gate + cute.assume(row * gate_pitch + col, divby=width),
                factor,
                width,
            )
        else:
            for at in range(col, cols):
                _part(
                    out + (row * out_pitch + at),
                    x + (row * x_pitch + at),
                    gate + (row * gate_pitch + at),
                    factor,
                    1,
                )
    else:
        for step in cutlass.range_constexpr(width):
            at = first + thread + step * (block // width)
            if at < cols:
                _part(
                    out + (row * out_pitch + at),
                    x + (row * x_pitch + at),
                    gate + (row * gate_pitch + at),
                    factor,
                    1,
                )


def variants() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield what is compiled: a kernel, and by name its types, constants, and threads of a block."""
    for dtype, size in (("fp16", 2), ("bf16", 2), ("fp32", 4)):
        yield (
            gelu_mul,
            {
                "out": f"*{dtype}:16",
                "x": f"*{dtype}:16",
                "gate": f"*{dtype}:16",
                "factor": "fp32",
                "cols": "i64",
                "out_pitch": "i64:16",
                "x_pitch": "i64:16",
                "gate_pitch": "i64:16",
                "block": 4096 // size,
                "threads": 256,
            },
        )
