"""The best rates of this GPU, measured in the same run as the rates compared with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from fictl.timing.measure import measure
from fictl.timing.side import Side
from fictl.timing.stop import Stop

_BYTES = 1 << 30
_EDGE = 8192
_STOP = Stop(stdrel=0.005, min_rounds=5, max_seconds=0.5)

# Functions by name; each gets the tensors of one copy.
_Works = dict[str, Callable[..., object]]


@dataclass(frozen=True)
class Ceilings:
    """Bytes/s of copying (read plus written) and of reading; FLOP/s of bf16 matmul."""

    copy: float
    read: float
    matmul: float


def ceilings(device: str = "cuda", timer: str = "auto") -> Ceilings:
    """Measure several torch kernels for each rate and keep the best, which depends on the GPU."""
    import torch

    def fastest(works: _Works, count: int, *shape: int, dtype: Any) -> float:
        """Return the time of the fastest of these works, on `count` tensors of one shape."""

        @cache
        def tensors(index: int) -> list[Any]:
            return [torch.randn(shape, device=device, dtype=dtype) for _ in range(count)]

        def side(work: Callable[..., object]) -> Side:
            touched = count * dtype.itemsize * torch.Size(shape).numel()
            return Side(lambda index: lambda: work(*tensors(index)), touched)

        sides = {name: side(work) for name, work in works.items()}
        samples = measure(sides, timer=timer, device=device, stop=_STOP)
        return min(side_samples.median for side_samples in samples.values())

    copy: _Works = {
        "copy": lambda x, out: out.copy_(x),
        "negate": lambda x, out: torch.neg(x, out=out),
    }
    read: _Works = {
        "dot": torch.dot,
        "sum": lambda x, y: (x.sum(), y.sum()),
        "rows": lambda x, y: [tensor.view(4096, -1).sum(1) for tensor in (x, y)],
    }
    matmul: _Works = {"matmul": lambda a, b, out: torch.mm(a, b, out=out)}
    half = _BYTES // 2
    return Ceilings(
        copy=_BYTES / fastest(copy, 2, half // 4, dtype=torch.float32),
        read=_BYTES / fastest(read, 2, half // 4, dtype=torch.float32),
        matmul=2 * _EDGE**3 / fastest(matmul, 3, _EDGE, _EDGE, dtype=torch.bfloat16),
    )
