"""Random inputs for a case, from its trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fictl.trace import Tensor, TraceTemplate

if TYPE_CHECKING:
    import torch


def make_inputs(
    template: TraceTemplate, sizes: Mapping[str, int], dtype: str, device: str, seed: int = 0
) -> dict[str, Any]:
    """Normal random tensors (integers from -8 to 8) and the trace's scalars, by parameter name."""
    import torch

    template.check_sizes(sizes)
    generator = torch.Generator(device=device).manual_seed(seed)
    made: dict[str, Any] = {}
    for name, spec in template.inputs.items():
        if not isinstance(spec, Tensor):
            made[name] = spec.value
            continue
        source = made[spec.dtype_from].dtype if spec.dtype_from else None
        element = source or getattr(torch, spec.dtype or dtype)
        made[name] = _random([sizes[axis] for axis in spec.axes], element, device, generator)
    return made


def _random(
    shape: list[int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> torch.Tensor:
    import torch

    if dtype.is_floating_point:
        values = torch.randn(shape, device=device, generator=generator, dtype=torch.float32)
        return values.to(dtype)
    return torch.randint(-8, 9, shape, device=device, generator=generator).to(dtype)
