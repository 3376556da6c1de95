"""Inputs of a case: by the `init` of its trace, else random."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from fictl.errors import UsageError
from fictl.trace import Case, Tensor, TraceTemplate
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
    """Make normal random tensors (integers from -8 to 8) and scalars, by parameter name.

    passing: the optional inputs to make; the others are None.
    values: kind of numbers in random floating-point tensors, one of EXTREMES.
    scalars: values in place of the trace's own.
    """
    import torch

    known = template.check_sizes(sizes, absent=template.optional_axes(passing))
    generator = torch.Generator(device=device).manual_seed(seed)
    initial = _initial(template, known, getattr(torch, dtype), device, generator)
    inputs: dict[str, Any] = {}
    numbers: dict[str, Number] = {**known, **(scalars or {})}
    for name, spec in template.inputs.items():
        parameter = template.parameter(name)
        if not isinstance(spec, Tensor):
            inputs[parameter] = numbers.get(name, spec.value)
        elif spec.optional and name not in passing:
            inputs[parameter] = None
        elif parameter in initial:
            inputs[parameter] = initial[parameter]
        else:
            source = template.parameter(spec.dtype_from) if spec.dtype_from else ""
            element = inputs[source].dtype if source else getattr(torch, spec.dtype or dtype)
            inputs[parameter] = _random(
                [known[axis] for axis in spec.axes], element, device, generator, values
            )
    return inputs


def case_inputs(
    template: TraceTemplate, case: Case, device: str, seed: int = 0, values: str = "normal"
) -> dict[str, Any]:
    """Make the inputs of a case, by parameter name."""
    return make_inputs(
        template, case.sizes, case.dtype, device, seed, case.passing, values, case.scalars
    )


def _initial(
    template: TraceTemplate,
    sizes: Mapping[str, int],
    dtype: torch.dtype,
    device: str,
    generator: torch.Generator,
) -> dict[str, torch.Tensor]:
    if template.init is None:
        return {}
    initial = template.init(sizes, dtype, device, generator)
    parameters = {template.parameter(name) for name in template.inputs}
    strange = sorted({*initial} - parameters)
    if strange:
        raise UsageError(
            f"init makes {', '.join(strange)}, which is not an input",
            f"one of {', '.join(sorted(parameters))}",
        )
    return initial


def _random(
    shape: list[int], dtype: torch.dtype, device: str, generator: torch.Generator, kind: str
) -> torch.Tensor:
    import torch

    if dtype.is_floating_point:
        normal = torch.randn(shape, device=device, generator=generator, dtype=torch.float32)
        return _extreme(normal, dtype, kind, generator).to(dtype)
    return torch.randint(-8, 9, shape, device=device, generator=generator).to(dtype)


def _extreme(
    normal: torch.Tensor, dtype: torch.dtype, kind: str, generator: torch.Generator
) -> torch.Tensor:
    """Convert normal numbers to another kind of values.

    The factors for large and small values are powers of two within the range of float16.
    """
    import torch

    if kind == "nonfinite":
        return _nonfinite(normal, generator)
    factor = {"normal": 1.0, "zeros": 0.0, "small": 2.0**-10, "large": 2.0**12}[kind]
    # In 8-bit formats large values would be infinite or NaN.
    most = min(torch.finfo(dtype).max, torch.finfo(normal.dtype).max)
    return normal.mul_(factor).clamp_(-most, most)


def _nonfinite(normal: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Replace two of the numbers: one by NaN, another by infinity."""
    import torch

    device, count = normal.device, normal.numel()
    at = torch.randperm(count, device=device, generator=generator)[:2]
    normal.view(-1)[at] = torch.tensor([torch.nan, torch.inf], device=device)[: len(at)]
    return normal
