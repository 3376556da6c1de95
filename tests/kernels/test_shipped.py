"""What holds for every op that fictl ships, whatever it computes."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
import torch

import fictl.ops
from fictl.arch import parse_archs
from fictl.case.outputs import argument_specs
from fictl.jit import JitSpec
from fictl.op.folder_specs import folder_specs
from fictl.project import OpFolder, Project, folders
from fictl.project.cpp_source import CppSource
from fictl.testing import make_inputs
from fictl.toolchain import can_target, require_nvcc

FOLDERS = folders(Project.shipped())
FUNCTIONS = [
    pytest.param(folder, declaration.name, id=declaration.name)
    for folder in FOLDERS
    for declaration in folder.declarations()
]
# Of a module with more configurations than these, the first and the last: what all are made of is
# the same, four of two parameters have both values of each there, and `fictl test` builds them all.
_MOST_SPECS = 3
SPECS = [
    pytest.param(folder, number, id=f"{folder.module}-{number}")
    for folder in FOLDERS
    for number in range(len(folder_specs(folder)))
    if len(folder_specs(folder)) <= _MOST_SPECS or number in (0, len(folder_specs(folder)) - 1)
]
# From the oldest to the newest. What is compiled is the first and the last that a module is for:
# tests/kernels/test_headers.py holds that between them no code is left out. Of a module's further
# parameters, which are other types, the last is enough.
ARCHS = "7.5 8.0 9.0a 10.0a 12.1a"


@pytest.mark.parametrize(("folder", "name"), FUNCTIONS)
def test_the_facade_serves_the_function_itself(folder: OpFolder, name: str) -> None:
    assert getattr(fictl.ops, name) is getattr(folder.load("op"), name)


@pytest.mark.needs_nvcc
@pytest.mark.parametrize(("folder", "number"), SPECS)
def test_it_compiles_for_the_generations_that_it_is_for(folder: OpFolder, number: int) -> None:
    spec: JitSpec = folder_specs(folder)[number]
    nvcc = require_nvcc()
    archs = [a for a in parse_archs(ARCHS) if spec.archs.select(a) and can_target(nvcc, a)]
    wanted = {archs[0], archs[-1]} if number == 0 else {archs[-1]}
    entry = spec.build(archs=sorted(wanted))  # Of an earlier build there may be more.
    assert {*entry.archs} >= wanted


@pytest.mark.parametrize(("folder", "name"), FUNCTIONS)
def test_a_tensor_on_another_device_is_refused_by_name_built_or_not(
    folder: OpFolder, name: str
) -> None:
    function = getattr(folder.load("op"), name)
    if isinstance(function, type):
        pytest.skip("plan reads its tensors on the host")
    inputs = _first_call(folder, name)
    given = [n for n in signature(function).parameters if isinstance(inputs.get(n), torch.Tensor)]
    # What is handed on to another op, of this folder or not, is refused by that one.
    used = next(each.uses for each in folder.declarations() if each.name == name)
    beside = [each.name for each in folder.declarations()]
    parts = CppSource(folder.binding).exports if folder.binding.is_file() else []
    ops, names = "|".join([*beside, *used, *parts]), "|".join([*given, "out"])
    named = rf"({ops}): argument '({names})' is on meta, .* takes C[PU]"
    bind = getattr(folder.load("trace"), name).bind
    with pytest.raises(ValueError, match=named):
        bind(inputs)[1]() if bind else function(**inputs)


def _first_call(folder: OpFolder, name: str) -> dict[str, Any]:
    """Its arguments, on no device that computes: inputs, then the outputs that must be given."""
    case = next(case for case in folder.load("bench").cases() if case.function == name)
    template = getattr(folder.load("trace"), name)
    made = make_inputs(
        template, case.sizes, case.dtype, "cpu", passing=case.passing, scalars=case.scalars
    )
    specs = argument_specs(getattr(folder.load("op"), name), template, case)
    outputs = {name: spec.empty("meta") for name, spec in specs.items() if spec.required}
    inputs = {k: v.to("meta") if isinstance(v, torch.Tensor) else v for k, v in made.items()}
    return {**inputs, **outputs}
