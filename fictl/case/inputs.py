"""Inputs for a case, from its trace: what its `init` makes, the rest at random."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from fictl.errors import UsageError
from fictl.trace import Tensor, TraceTemplate
from fictl.trace.expression import Number

if TYPE_CHECKING:
    import torch


def make_inputs(
    template: TraceTemplate,
    sizes: Mapping[str, int],
    dtype: str,
    device: str,
    seed: int = 0,
    passing: Collection[str] = (),
    values: str = "normal",
    scalars: Mapping[str, Number] | None = None,
) -> dict[str, Any]:
    """Normal random tensors (integers from -8 to 8) and scalars, by parameter name.

    Optional inputs are None but for those in `passing`. `values`, of EXTREMES, are for random
    tensors of floating point. The trace has the `scalars` that are not given.
    """
    import torch

    known = template.check_sizes(sizes, absent=template.optional_axes(passing))
    generator = torch.Generator(device=device).manual_seed(seed)
    initial = _initial(template, known, getattr(torch, dtype), device, generator)
    made: dict[str, Any] = {}
    said: dict[str, Number] = {**known, **(scalars or {})}
    for name, spec in template.inputs.items():
        parameter = template.parameter(name)
        if not isinstance(spec, Tensor):
            made[parameter] = said.get(name, spec.value)
        elif spec.optional and name not in passing:
            made[parameter] = None
        elif parameter in initial:
            made[parameter] = initial[parameter]
        else:
            source = template.parameter(spec.dtype_from) if spec.dtype_from else ""
            element = made[source].dtype if source else getattr(torch, spec.dtype or dtype)
            made[parameter] = _random(
                [known[axis] for axis in spec.axes], element, device, generator, values
            )
    return made


def _initial(
    template: TraceTemplate,
    sizes: Mapping[str, int],
    dtype: torch.dtype,
    device: str,
    generator: torch.Generator,
) -> dict[str, torch.Tensor]:
    if template.init is None:
        return {}
    made = template.init(sizes, dtype, device, generator)
    parameters = {template.parameter(name) for name in template.inputs}
    strange = sorted({*made} - parameters)
    if strange:
        raise UsageError(
            f"init makes {', '.join(strange)}, which is no input",
            f"one of {', '.join(sorted(parameters))}",
        )
    return made


def _random(
    shape: list[int], dtype: torch.dtype, device: str, generator: torch.Generator, kind: str
) -> torch.Tensor:
    import torch

    if dtype.is_floating_point:
        made = torch.randn(shape, device=device, generator=generator, dtype=torch.float32)
        return _extreme(made, dtype, kind, generator).to(dtype)
    return torch.randint(-8, 9, shape, device=device, generator=generator).to(dtype)


def _extreme(
    normal: torch.Tensor, dtype: torch.dtype, kind: str, generator: torch.Generator
) -> torch.Tensor:
    """Large and small ones are exact multiples, within the range of half and above its last bit."""
    import torch

    if kind == "nonfinite":
        return _nonfinite(normal, generator)
    factor = {"normal": 1.0, "zeros": 0.0, "small": 2.0**-10, "large": 2.0**12}[kind]
    # In formats of eight bits large values would be none.
    most = min(torch.finfo(dtype).max, torch.finfo(normal.dtype).max)
    return normal.mul_(factor).clamp_(-most, most)


def _nonfinite(normal: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One NaN and, in another place, one infinity."""
    import torch

    device, count = normal.device, normal.numel()
    at = torch.randperm(count, device=device, generator=generator)[:2]
    normal.view(-1)[at] = torch.tensor([torch.nan, torch.inf], device=device)[: len(at)]
    return normal
