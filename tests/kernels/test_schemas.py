"""torch is told which arguments a shipped kernel writes: those, and no others."""

from __future__ import annotations

import re
from functools import partial
from math import prod

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import fictl.ops
from fictl.case.outputs import argument_specs
from fictl.op.ffi.schema import Schema, read_schema
from fictl.project import OpFolder, Project, folders
from fictl.project.cpp_source import CppSource
from fictl.project.written import written_by
from fictl.testing import make_inputs

FOLDERS = [folder for folder in folders(Project.shipped()) if folder.binding.is_file()]
# What is called as no public function is, or writes a part of what one does.
OTHERS = {
    "fused_rmsnorm_silu": {"out"},
    "attend": {"out", "lse"},
    "fused_rmsnorm_silu_fp4": {"out", "block_scale"},
    "segment_sum": {"out"},
    "router": {"out"},
    # Plans of blocks, in memory of the wrapper's.
    "list_mask": set(),
    "share_mask": set(),
    "plan_rows": set(),
    # Attention whose lengths are on the device.
    "attend_planned": {"out", "lse"},
    "list_work": set(),
    # Parts of moe_round_trip, and of the functions that engines call.
    "moe_a2a_dispatch": set(),
    "moe_a2a_combine": {"out"},
    "moe_a2a_sanitize_expert_ids": {"out"},
}
# Of the host alone: torch sees no call of it.
ON_THE_HOST = {"plan", "per_tensor_quant_fp8_workspace", "dense_workspace"}
FUNCTIONS = [
    pytest.param(folder, each.name, id=each.name)
    for folder in FOLDERS
    for each in folder.declarations()
    if folder.family != "attention" and each.name[0].islower()
]


def _exports(folder: OpFolder) -> list[str]:
    return [name for name in CppSource(folder.binding).exports if name not in ON_THE_HOST]


def _schema(folder: OpFolder, export: str) -> Schema:
    return read_schema([folder.binding], export, partial(written_by, folder.op, export))


@pytest.mark.parametrize(
    ("folder", "export"),
    [
        pytest.param(folder, export, id=f"{folder.module}-{export}")
        for folder in FOLDERS
        for export in _exports(folder)
    ],
)
def test_a_schema_says_what_its_function_declares(folder: OpFolder, export: str) -> None:
    declared = {each.name: {*each.mutates} for each in folder.declarations()}
    written = {
        re.sub(r"_\d$", "", each.name)
        for each in _schema(folder, export).parameters
        if each.written and not each.name.startswith("workspace")
    }
    assert written == (OTHERS[export] if export in OTHERS else declared[export])


class Seen(TorchDispatchMode):
    """Calls what it sees, and keeps which tensors each of our ops changed, and may change."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.undeclared: list[str] = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.namespace != "fictl":
            return function(*args, **(kwargs or {}))
        parameters = function._schema.arguments
        read = {
            parameter.name: (value, value.clone())
            for parameter, value in zip(parameters, args, strict=True)
            if isinstance(value, torch.Tensor) and not parameter.alias_info
        }
        result = function(*args)
        self.calls += 1
        for name, (value, before) in read.items():
            if value.contiguous().view(torch.uint8).ne(before.contiguous().view(torch.uint8)).any():
                self.undeclared.append(f"{function} wrote {name}")
        return result


@pytest.mark.parametrize(("folder", "name"), FUNCTIONS)
def test_a_kernel_writes_nothing_that_its_schema_does_not_say(
    folder: OpFolder, name: str, device: str
) -> None:
    """Small ones: what attention only reads is compared in the tests that are generated of it."""
    cases = [each for each in folder.load("bench").cases() if each.function == name]
    case = min(cases, key=lambda each: prod(each.sizes.values()))
    template, function = getattr(folder.load("trace"), name), getattr(fictl.ops, name)
    inputs = make_inputs(
        template, case.sizes, case.dtype, device, passing=case.passing, scalars=case.scalars
    )
    specs = argument_specs(function, template, case)
    outputs = {key: spec.empty(device) for key, spec in specs.items() if spec.required}
    with torch.no_grad(), Seen() as seen:
        function(**inputs, **outputs)
    assert seen.calls
    assert not seen.undeclared
