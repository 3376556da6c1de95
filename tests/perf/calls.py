"""What a public function, and a function of its module, cost over the FFI call inside them."""

from __future__ import annotations

import os
import timeit
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from sample import Pair, interleave
from yardsticks import plain_call

_CALLS = 20_000


def scale_call() -> Pair:
    """A public function with `out=`."""
    import fictl.ops
    from fictl.kernels.elementwise.scale.op import kernel

    x, out = _tensors(2)
    ffi = _bare(kernel, "scale")
    return interleave(
        _timed(lambda: fictl.ops.scale(x, 2.0, out=out)),
        plain_call,
        15,
        over=_timed(lambda: ffi(out, x, 2.0)),
    )


def kernel_call() -> Pair:
    """The guard alone, over three tensors and two scalars."""
    from fictl.kernels.norm.rmsnorm.op import kernel

    x, out, weights = _tensors(3)
    w = weights[0]
    ffi, call = _bare(kernel, "rmsnorm"), kernel.rmsnorm
    arguments = out, x, w, 1e-6, True
    return interleave(
        _timed(lambda: call(*arguments)), plain_call, 15, over=_timed(lambda: ffi(*arguments))
    )


def auto_backend() -> Pair:
    """A function behind the choice of its backend, over the function itself."""
    from fictl import settings
    from fictl.op import op
    from fictl.toolchain import visible_gpus
    from fictl.trace import Const, Tensor, TraceTemplate, Var

    tensor = Tensor(("n", "d"))
    trace = TraceTemplate(
        axes={"n": Var(""), "d": Const("")},
        inputs={"q": tensor, "k": tensor, "v": tensor},
        outputs={"out": Tensor(("n", "d"), dtype_from="q")},
        reference=lambda q, k, v: q,
    )

    def check(q: Any) -> bool:
        return bool(q.shape[-1] <= 2048)

    def attention(q: Any, k: Any, v: Any, backend: str = "auto", out: Any = None) -> str:
        return backend

    declare = op(
        backends={"first": "8.9 9.0a 9.0", "second": ">=8.0"},
        check=check,
        dtypes="f32",
        mutates="out",
        devices="cuda emu",
        trace=trace,
    )
    chosen = declare(attention)
    x, out = _tensors(2)
    with patch.dict(os.environ, {settings.DEVICE.name: "cuda" if visible_gpus() else "emu"}):
        return interleave(
            _timed(lambda: chosen(x, x, x, out=out)),
            plain_call,
            15,
            over=_timed(lambda: attention(x, x, x, out=out)),
        )


def _tensors(count: int) -> list[Any]:
    import torch

    from fictl.toolchain import visible_gpus

    device = "cuda" if visible_gpus() else "cpu"
    return [torch.ones(8, 1024, device=device) for _ in range(count)]


def _bare(kernel: Any, name: str) -> Callable[..., Any]:
    """On a GPU the real launch; without one, both sides call an FFI function that does nothing."""
    from fictl.toolchain import visible_gpus

    if visible_gpus():
        return kernel.bare(name)
    import tvm_ffi

    nothing = tvm_ffi.get_global_func("testing.nop", allow_missing=True) or (lambda *_: None)
    kernel._route(name).bind(nothing)
    return nothing


def _timed(call: Callable[[], object]) -> Callable[[], float]:
    """Seconds of one call."""
    call()
    return lambda: timeit.timeit(call, number=_CALLS) / _CALLS
