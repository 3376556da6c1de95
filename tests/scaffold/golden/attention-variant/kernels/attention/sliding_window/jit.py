"""JIT generator and AOT entry of sliding_window: a module for each dtype, head and tile."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fictl.jit import JitSpec
from fictl.op import module_spec

TYPES = {
    torch.float16: "__half",
    torch.bfloat16: "__nv_bfloat16",
}
HEAD_DIMS = range(8, 257, 8)  # whole chunks of 16 bytes, as far as shared memory of any GPU goes


def module(dtype: torch.dtype, head_dim: int, rows: int) -> JitSpec:
    """config.jinja gets its names from here; one that it does not know is an error."""
    if dtype not in TYPES:
        given, *accepted = (str(each).removeprefix("torch.") for each in (dtype, *TYPES))
        wrong = f"sliding_window: argument 'q' has dtype {given}"
        raise TypeError(f"{wrong}; accepted: {', '.join(accepted)}")
    if head_dim not in HEAD_DIMS:
        wrong = f"sliding_window: argument 'q' has heads of {head_dim} elements"
        raise ValueError(f"{wrong}; accepted: multiples of 8 up to 256")
    return module_spec(__file__, {"type": TYPES[dtype], "head_dim": head_dim, "rows": rows})


def aot() -> Iterator[JitSpec]:
    """What is called most; others are built when they are first called."""
    yield module(torch.bfloat16, 128, 128)
