"""Errors of a tensor against the expected one, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from fictl.judge.config import EvalConfig

_EPS = 1e-8
# Elements of a chunk: 128 MiB a tensor in fp64.
_CHUNK = 1 << 24
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


@dataclass
class Errors:
    """Counts over all elements; `worst` is the index of the failing element with the
    largest error.
    """

    elements: int = 0
    wrong: int = 0
    largest: float = 0.0
    largest_relative: float = 0.0
    beyond_cap: int = 0
    strange: int = 0
    worst: int = 0
    worst_got: float = 0.0
    worst_wanted: float = 0.0
    atol: float = 0.0

    @property
    def matched_ratio(self) -> float:
        return 1.0 - self.wrong / self.elements if self.elements else 1.0


def measure(actual: torch.Tensor, expected: torch.Tensor, config: EvalConfig) -> Errors:
    """Compare tensors of one shape. NaN and infinities are right only where the reference has them
    too.
    """
    errors = Errors()
    exact = _is_exact(actual.dtype)
    errors.atol = 0.0 if exact else _absolute(expected, config)
    rtol = 0.0 if exact else config.rtol
    furthest = -1.0
    for start, got, want in _chunks(actual, expected):
        furthest = _add(errors, start, got, want, rtol, config, actual.dtype, furthest)
    return errors


def values(tensor: torch.Tensor) -> torch.Tensor:
    """Convert to fp64; packed formats are unpacked."""
    import torch

    if tensor.dtype is not torch.float4_e2m1fn_x2:
        return tensor.to(torch.float64)
    table = torch.tensor([*_E2M1, *(-value for value in _E2M1)], device=tensor.device)
    bits = tensor.contiguous().view(torch.uint8).long()
    return table.double()[torch.stack([bits & 15, bits >> 4], -1)].flatten(-2)


def _is_exact(dtype: torch.dtype) -> bool:
    """Tell whether a dtype allows no error: indices, counts, packed bits. int8 may be rounded."""
    import torch

    return not (dtype.is_floating_point or dtype.is_complex or dtype is torch.int8)


def _absolute(expected: torch.Tensor, config: EvalConfig) -> float:
    """The absolute tolerance, reduced if zeros alone would pass it."""
    import torch

    small, largest, elements = 0, 0.0, expected.numel()
    for _, _, want in _chunks(expected, expected):
        size = torch.where(want.isfinite(), want.abs(), 0.0)
        small += int((size <= config.atol).sum())
        largest = max(largest, float(size.max()))
    ratio = config.required_matched_ratio
    needed = 1.0 if ratio is None else ratio
    if largest and elements and small / elements >= needed:
        return min(config.atol, max(config.rtol, _EPS) * largest)
    return config.atol


def _chunks(
    actual: torch.Tensor, expected: torch.Tensor
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Both tensors in flat fp64 chunks, with the index of their first element."""
    flat, wanted = actual.reshape(-1), expected.reshape(-1)
    for start in range(0, flat.numel(), _CHUNK):
        part = slice(start, start + _CHUNK)
        yield start, values(flat[part]), values(wanted[part])


def _add(
    errors: Errors,
    start: int,
    got: torch.Tensor,
    want: torch.Tensor,
    rtol: float,
    config: EvalConfig,
    dtype: torch.dtype,
    furthest: float,
) -> float:
    import torch

    fits = _odd_places_fit(got, want, dtype, config)
    both = got.isfinite() & want.isfinite()
    error = torch.where(both & ~fits, (got - want).abs(), 0.0)
    relative = error / (want.abs() + _EPS)
    wrong = ~both & ~fits
    errors.strange += int(wrong.sum())
    if config.formula == "sum":
        wrong |= error > errors.atol + rtol * torch.where(both, want.abs(), 0.0)
    else:
        wrong |= (error > errors.atol) & (relative > rtol)
    if dtype is torch.int8:
        wrong &= error > 1.0
    if config.max_error_cap is not None:
        errors.beyond_cap += int((error > config.max_error_cap).sum())
    errors.elements += got.numel()
    errors.wrong += int(wrong.sum())
    errors.largest = max(errors.largest, float(error.max()))
    errors.largest_relative = max(errors.largest_relative, float(relative.max()))
    size = torch.where(wrong, torch.where(both, error, torch.inf), -1.0)
    if float(size.max()) > furthest:
        furthest, at = float(size.max()), int(size.argmax())
        errors.worst, errors.worst_got, errors.worst_wanted = (
            start + at,
            float(got[at]),
            float(want[at]),
        )
    return furthest


def _odd_places_fit(
    got: torch.Tensor, want: torch.Tensor, dtype: torch.dtype, config: EvalConfig
) -> torch.Tensor:
    """Elements that are equal, both NaN, or infinite only by rounding."""
    import torch

    fits = (got.isnan() & want.isnan()) | (got == want)
    if dtype.is_floating_point and dtype is not torch.float4_e2m1fn_x2:
        limits = torch.finfo(dtype)
        beyond = want.abs() > limits.max * (1 - config.rtol)
        fits |= beyond & (got == want.sign() * torch.inf)
        if limits.bits == 8:  # CUDA's conversions saturate.
            fits |= beyond & (got == want.sign() * limits.max)
    if config.allow_negative_inf:
        fits |= got == -torch.inf
    return fits
