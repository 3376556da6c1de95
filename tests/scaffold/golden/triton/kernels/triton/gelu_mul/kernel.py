"""gelu_mul: out = gelu(x) * gate * factor, element by element, in fp32 and rounded once.

Traffic: every element is read once and written once. Nothing is reused, so the limit is the
memory's bandwidth.

Tiling: a program of 8 warps takes a block of one row, 16 bytes of each input a thread, and there
are as many programs as blocks. 2048 threads per SM keep 32 KiB in flight, where about 25 KiB cover
the latency of HBM. A dense tensor is one row. Only the last block of a row is masked: with a mask
that may end anywhere, Triton would load every element by itself.

Compiled with the op, for each of its architectures, and never imported when the op runs. Arguments
that variants() marks with `:16` are multiples of 16 (pointers: of 16 bytes), which vectors need;
another variant serves calls where they are not.
"""

# mypy: ignore-errors
# Why: what Triton makes of these functions is not what Python would.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import triton
import triton.language as tl


@triton.jit
def _gelu(x: tl.tensor) -> tl.tensor:
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def _block(
    out: tl.tensor, x: tl.tensor, gate: tl.tensor, factor: tl.tensor, inside: tl.tensor | None
) -> None:
    """Compute a block from pointers; `inside` masks it, None is all of it."""
    x = tl.load(x, mask=inside).to(tl.float32)
    gate = tl.load(gate, mask=inside).to(tl.float32)
    computed = _gelu(x) * gate * factor
    tl.store(out, computed, mask=inside)


@triton.jit
def gelu_mul(
    out: tl.tensor,
    x: tl.tensor,
    gate: tl.tensor,
    factor: tl.tensor,
    cols: tl.tensor,
    out_pitch: tl.tensor,
    x_pitch: tl.tensor,
    gate_pitch: tl.tensor,
    block: tl.constexpr,
) -> None:
    blocks = tl.cdiv(cols, block).to(tl.int32)
    this_row = tl.program_id(0) // blocks
    first_col = (tl.program_id(0) - this_row * blocks).to(tl.int64) * block
    out += this_row.to(tl.int64) * out_pitch + first_col
    x += this_row.to(tl.int64) * x_pitch + first_col
    gate += this_row.to(tl.int64) * gate_pitch + first_col
    lane = tl.arange(0, block)
    if first_col + block <= cols:
        _block(out + lane, x + lane, gate + lane, factor, None)
    else:
        _block(out + lane, x + lane, gate + lane, factor, lane < cols - first_col)


def variants() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield what is compiled: a kernel, and by name its types, constants and options of Triton."""
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
                "num_warps": 8,
            },
        )
