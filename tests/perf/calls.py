"""What a public function costs over the FFI call inside it."""

from __future__ import annotations

import timeit
from typing import Any

from sample import Pair, interleave

_CALLS = 20_000


def scale_call() -> Pair:
    """On a GPU the real launch; without one, both sides call a function that does nothing."""
    import torch

    import fictl.ops
    from fictl.kernels.elementwise.scale import op
    from fictl.toolchain import visible_gpus

    device = "cuda" if visible_gpus() else "cpu"
    x = torch.ones(1024, device=device)
    out = torch.empty_like(x)
    if device == "cuda":
        fictl.ops.scale(x, 2.0, out=out)
    else:
        op.kernel.scale = _nothing()
    scale, ffi = fictl.ops.scale, op.kernel.scale

    def ours() -> float:
        return timeit.timeit(lambda: scale(x, 2.0, out=out), number=_CALLS) / _CALLS

    def bare() -> float:
        return timeit.timeit(lambda: ffi(out, x, 2.0), number=_CALLS) / _CALLS

    return interleave(ours, bare, 15)


def _nothing() -> Any:
    import tvm_ffi

    return tvm_ffi.get_global_func("testing.nop", allow_missing=True) or (lambda *_: None)
