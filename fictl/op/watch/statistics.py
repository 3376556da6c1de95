"""Statistics of a tensor's values in bounded memory, so that a log shows where NaNs begin."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch

# Elements per piece: a KV cache fills its GPU, so that a copy of it would not fit.
_PIECE = 1 << 23


class Statistics(NamedTuple):
    """Statistics of a tensor; minimum, maximum and mean are those of its finite values."""

    minimum: float
    maximum: float
    mean: float
    nan: int
    inf: int
    floating: bool

    def __str__(self) -> str:
        finite = math.isfinite(self.minimum)
        values = f"min {self.minimum:.6g} max {self.maximum:.6g} mean {self.mean:.6g}"
        counts = f" nan {self.nan} inf {self.inf}" if self.floating else ""
        return (values if finite else "nothing finite") + counts


def statistics(tensor: torch.Tensor) -> str:
    """Return the statistics as text, or why there are none. Waits for the tensor's device."""
    if not tensor.numel():
        return "no elements"
    if tensor.is_meta:
        return "no data: a meta tensor"
    try:
        return str(measure(tensor))
    except Exception as error:  # A dtype without arithmetic, a tensor without data, a dead GPU.
        first, *_ = str(error).splitlines() or [""]
        return f"no statistics: {type(error).__name__}: {first}"


def measure(tensor: torch.Tensor) -> Statistics:
    """Measure a tensor that has elements."""
    import torch

    tensor = tensor.detach()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    floating = tensor.is_floating_point()
    with torch.no_grad():
        parts = [_of_piece(piece, floating) for piece in _pieces(tensor)]
    lows, highs, sums, nans, infs = zip(*parts, strict=True)
    nan, inf = int(sum(nans)), int(sum(infs))
    finite = tensor.numel() - nan - inf
    return Statistics(min(lows), max(highs), math.fsum(sums) / max(finite, 1), nan, inf, floating)


def _pieces(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield small views, made by halving the longest dimension."""
    if tensor.numel() <= _PIECE:
        yield tensor
        return
    dim = max(range(tensor.ndim), key=lambda dim: tensor.shape[dim])
    for half in tensor.chunk(2, dim):
        yield from _pieces(half)


def _of_piece(piece: torch.Tensor, floating: bool) -> list[float]:
    """Return minimum, maximum, sum, NaNs and infinities, fetched from the device together."""
    import torch

    # fp8 has no arithmetic, narrow integers overflow, and float64 holds all but the largest int64.
    values = piece.to(torch.float64 if not floating or piece.itemsize > 4 else torch.float32)
    finite = values.isfinite()
    numbers = (
        values.where(finite, math.inf).amin(),
        values.where(finite, -math.inf).amax(),
        values.where(finite, 0.0).sum(dtype=torch.float64),
        values.isnan().sum(),
        values.isinf().sum(),
    )
    return [
        float(number) for number in torch.stack([number.double() for number in numbers]).tolist()
    ]
