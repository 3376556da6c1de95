"""The inputs of a workload, the same ones for the same seed.

Each random tensor has a generator of its own, seeded by the seed and its name: a process that
makes some of them makes the same as one that makes all. What random numbers cannot be is loaded,
or made by code that the definition carries, and that code runs in the judge's process only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.errors import UsageError
from fictl.judge.inputs.custom_code import custom, initial
from fictl.judge.inputs.random_values import random_number, random_tensor, seed_of
from fictl.trace.dataset.files import DatasetFiles
from fictl.trace.documents.tensor_spec import torch_dtype

if TYPE_CHECKING:
    import torch

    from fictl.trace import Definition, Workload


def make_inputs(
    definition: Definition, workload: Workload, root: Path | None, seed: int, device: str
) -> dict[str, Any]:
    """Tensors and numbers by name, in the order of the call. `root` is the dataset's folder."""
    made = given_inputs(definition, workload, root, seed, device)
    left = [name for name in definition.inputs if name not in made]
    made |= random_inputs(definition, workload, seed, device, left)
    return {name: made[name] for name in definition.inputs}


def random_inputs(
    definition: Definition, workload: Workload, seed: int, device: str, names: Collection[str]
) -> dict[str, Any]:
    """Those of `names`, whose specs alone are asked: no reference, no init is needed for them."""
    shapes = dict(zip(definition.inputs, definition.get_input_shapes(workload.axes), strict=True))
    return {name: _random(definition, name, shapes[name], seed, _place(device)) for name in names}


def given_inputs(
    definition: Definition, workload: Workload, root: Path | None, seed: int, device: str
) -> dict[str, Any]:
    """All that is not random: numbers, files, and what the definition's own code makes."""
    made: dict[str, Any] = {}
    coded = [name for name, spec in workload.inputs.items() if spec.type == "custom"]
    for name, spec in workload.inputs.items():
        if name not in definition.inputs:
            raise UsageError(
                f"workload {workload.uuid} has the input {name}, {definition.name} has not",
                f"its inputs are {', '.join(definition.inputs)}",
            )
        if spec.type == "scalar":
            made[name] = spec.value
        elif spec.type == "safetensors":
            made[name] = _loaded(definition, workload, name, root, _place(device))
    if coded and definition.custom_inputs_entrypoint:
        made |= custom(definition, workload, coded, made, seed, _place(device))
    made |= initial(definition, workload, made, seed, _place(device))
    if missing := [name for name in coded if name not in made]:
        entry = definition.custom_inputs_entrypoint
        raise UsageError(
            f"workload {workload.uuid} leaves {', '.join(missing)} to {definition.name}, and "
            + (f"{entry} does not make it" if entry else "it has no custom_inputs_entrypoint"),
            "that names the function of the reference that makes inputs",
        )
    return made


def _place(device: str) -> str:
    """The emulated device's tensors are the CPU's."""
    return "cpu" if device == "emu" else device


def _random(
    definition: Definition, name: str, shape: Sequence[int] | None, seed: int, device: str
) -> Any:
    dtype, its_seed = torch_dtype(definition.inputs[name].dtype), seed_of(seed, name)
    if shape is None:
        return random_number(name, dtype, its_seed)
    made = random_tensor(name, shape, dtype, its_seed, device)
    # What is sampled from sums to one, whatever else is random about it.
    return made.softmax(-1) if _are_probabilities(definition, name, dtype) else made


def _are_probabilities(definition: Definition, name: str, dtype: torch.dtype) -> bool:
    named = name.rsplit("_", maxsplit=1)[-1] in ("probs", "probabilities")
    return named and dtype.is_floating_point and "sampling" in definition.op_type


def _loaded(
    definition: Definition, workload: Workload, name: str, root: Path | None, device: str
) -> torch.Tensor:
    from fictl.judge.inputs.safetensors_input import load

    spec = workload.inputs[name]
    assert spec.type == "safetensors"
    if root is None:
        raise UsageError(f"{name} is in {spec.path}, of no dataset", "give the dataset's folder")
    path = DatasetFiles(root).blob(spec.path)
    tensor = load(path, spec.tensor_key, device)
    _require_fit(definition, workload, name, tensor, f"{path}: {spec.tensor_key}")
    return tensor


def _require_fit(
    definition: Definition, workload: Workload, name: str, tensor: torch.Tensor, where: str
) -> None:
    shapes = dict(zip(definition.inputs, definition.get_input_shapes(workload.axes), strict=True))
    wanted = [*(shapes[name] or ())], torch_dtype(definition.inputs[name].dtype)
    if ([*tensor.shape], tensor.dtype) != wanted:
        raise UsageError(
            f"{where}: {name} is {[*tensor.shape]} {tensor.dtype}",
            f"{definition.name} at {dict(workload.axes)} takes {wanted[0]} {wanted[1]}",
        )
