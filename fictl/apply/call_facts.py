"""Facts of a call's arguments on which the choice of a solution depends, and what rules one out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch

from fictl import settings
from fictl.judge.hardware import hardware_name
from fictl.trace import Definition
from fictl.trace.documents.tensor_spec import torch_dtype

_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})
# Judges give solutions tensors that are aligned like fresh ones; vectors of 16 bytes rely on it.
_ALIGNMENT = 16


def facts(values: Sequence[Any], numbers: Collection[int]) -> tuple[Any, ...]:
    """Return a hashable key of a call. `numbers`: positions of numbers whose value counts."""
    key: list[Any] = [torch.is_grad_enabled()]
    for at, value in enumerate(values):
        if type(value) in _PLAIN:
            key.append(
                (
                    value.shape,
                    value.dtype,
                    value.device,
                    value.is_contiguous(),
                    value.requires_grad,
                    value.data_ptr() % _ALIGNMENT,
                )
            )
        else:
            key.append(value if at in numbers else type(value))
    return tuple(key)


def numbers_that_count(definition: Definition) -> frozenset[int]:
    """Positions of the inputs that are numbers, if sizes or constraints may depend on them."""
    if not (definition.constraints or definition.expr_axes or definition.var_axes):
        return frozenset()
    specs = enumerate(definition.inputs.values())
    return frozenset(at for at, spec in specs if spec.shape is None and "float" not in spec.dtype)


def unfit(definition: Definition, values: Sequence[Any]) -> str:
    """Say which argument a solution was not judged with; '' if all are of the judged kind."""
    specs = [*definition.inputs.items(), *definition.outputs.items()]
    device = next((value.device for value in values if type(value) in _PLAIN), None)
    for (name, spec), value in zip(specs, values, strict=False):
        if spec.shape is None:
            if not isinstance(value, bool | int | float):
                return f"{name} is {type(value).__name__}, and the definition has a number"
            continue
        if type(value) not in _PLAIN:
            return f"{name} is {type(value).__name__}, and not a plain torch.Tensor"
        problem = _wrong(value, torch_dtype(spec.dtype), device)
        if problem:
            return f"{name} {problem}"
    return ""


def _wrong(value: torch.Tensor, dtype: torch.dtype, device: torch.device | None) -> str:
    if value.dtype != dtype:
        return f"is {value.dtype}, and the definition has {dtype}"
    if value.device != device:
        return f"is on {value.device}, and others are on {device}"
    if not value.is_contiguous():
        return "is not contiguous; solutions are judged with contiguous tensors"
    if value.data_ptr() % _ALIGNMENT and value.numel():
        return f"is not aligned to {_ALIGNMENT} bytes"
    if value.requires_grad and torch.is_grad_enabled():
        return "requires a gradient, which a solution does not have"
    return ""


def hardware_of(device: torch.device) -> tuple[str, ...]:
    """Names by which evaluations call a device; on the CPU, the emulated one if ops run there."""
    if device.type == "cuda":
        return (hardware_name("cuda", torch.cuda.get_device_name(device)),)
    names = [hardware_name("cpu")]
    if settings.DEVICE.get() == "emu":
        names.append(hardware_name("emu"))
    return tuple(names)
