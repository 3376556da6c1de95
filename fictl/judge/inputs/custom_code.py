"""Inputs that the definition's own code makes. It runs where the reference does, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from fictl.errors import UsageError
from fictl.judge.inputs.random_values import seed_of
from fictl.trace.documents.tensor_spec import torch_dtype

if TYPE_CHECKING:
    import torch

    from fictl.trace import Definition, Workload


def custom(
    definition: Definition,
    workload: Workload,
    names: Collection[str],
    numbers: Mapping[str, Any],
    seed: int,
    device: str,
) -> dict[str, Any]:
    """By the function of the reference that the definition names."""
    entry = definition.custom_inputs_entrypoint or ""
    function = _function(definition, definition.reference, entry)
    scalars = {name: value for name, value in numbers.items() if not hasattr(value, "shape")}
    said = {**definition.sizes(workload.axes), **scalars}
    made = _called(partial(function, said, device), seed, device, definition, entry)
    return {name: _fitted(definition, name, made[name], device) for name in names if name in made}


def initial(
    definition: Definition,
    workload: Workload,
    made: Mapping[str, Any],
    seed: int,
    device: str,
) -> dict[str, Any]:
    """What `init` makes of the inputs that the workload leaves to chance."""
    left = [
        name
        for name in definition.inputs
        if name not in made and definition.inputs[name].shape is not None
    ]
    if not (definition.init and left):
        return {}
    import torch

    function = _function(definition, definition.init, "")
    generator = torch.Generator(device=device).manual_seed(seed_of(seed, "init"))
    sizes, dtype = definition.sizes(workload.axes), _main_dtype(definition)
    call = partial(function, sizes, dtype, device, generator)
    found = _called(call, seed, device, definition, "init")
    return {name: _fitted(definition, name, found[name], device) for name in left if name in found}


def _main_dtype(definition: Definition) -> torch.dtype:
    """Of the first tensor that holds values; of the first one where none does."""
    dtypes = [torch_dtype(s.dtype) for s in definition.inputs.values() if s.shape is not None]
    return next((dtype for dtype in dtypes if dtype.is_floating_point), dtypes[0])


def _function(definition: Definition, source: str, name: str) -> Callable[..., Any]:
    """`name` of the source, or what it defines last."""
    space: dict[str, Any] = {"__name__": definition.name}
    try:
        exec(compile(source, f"<{definition.name}>", "exec"), space)  # noqa: S102 what it is for
    except Exception as error:
        raise UsageError(f"{definition.name}: its code fails: {error!r}") from error
    found = space.get(name) if name else [v for v in space.values() if callable(v)][-1:]
    function = found[0] if isinstance(found, list) and found else found
    if not callable(function):
        raise UsageError(f"{definition.name}: its code has no function {name or 'init'}")
    return function  # type: ignore[no-any-return]


def _called(
    call: Callable[[], Any], seed: int, device: str, definition: Definition, entry: str
) -> dict[str, Any]:
    """Code that draws from torch's own generator gets the same numbers, and disturbs no other."""
    import torch

    try:
        gpus = [device] if device.startswith("cuda") else []
        with torch.random.fork_rng(devices=gpus):
            torch.manual_seed(seed_of(seed, entry))
            made = call()
    except Exception as error:
        raise UsageError(f"{definition.name}: {entry} fails: {error!r}") from error
    if not isinstance(made, dict):
        raise UsageError(f"{definition.name}: {entry} returns a {type(made).__name__}, no dict")
    return made


def _fitted(definition: Definition, name: str, value: Any, device: str) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    # Why the cast: an init that serves many definitions is told one dtype.
    return value.detach().to(device=device, dtype=torch_dtype(definition.inputs[name].dtype))
