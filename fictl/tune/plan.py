"""Plan of `fictl tune`: the cases of ops with tactics, one for each key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from fictl import settings
from fictl.case.outputs import case_sizes
from fictl.dtype import parse_dtype
from fictl.emu.device import ARCH, MOST_ELEMENTS
from fictl.errors import UsageError
from fictl.op.backend.backends import AUTO
from fictl.op.tactics.spelling import label, spelled
from fictl.op.tactics.tactics import Tactics
from fictl.project import Declaration, OpFolder, select
from fictl.toolchain import visible_gpus
from fictl.trace import Case, Tensor, TraceTemplate


@dataclass(frozen=True)
class TuningWork:
    """One key of one function, and the first case that has it."""

    function: Any
    tactics: Tactics
    case: Case
    key: str
    candidates: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "op": self.tactics.op.api,
            "key": self.key,
            "case": str(self.case),
            "candidates": list(self.candidates),
        }


def plan(ops: Collection[str], case: str = "", dtype: str = "") -> list[TuningWork]:
    """Plan the tuning of these ops; raise UsageError if the filters select nothing.

    case: only cases whose text contains this.
    """
    wanted = parse_dtype(dtype).name if dtype else ""
    tunable = [function for folder in select(ops) for function in _functions(folder)]
    if not tunable:
        raise UsageError(
            f"{' '.join(ops) or 'no op here'} has no tactics",
            "an op declares them by @op(…, tactics=…)",
        )
    cases = [
        (function, tactics, backend, one)
        for folder, function, tactics, backend in tunable
        for one in folder.cases()
        if one.function == tactics.op.name
    ]
    wished = [one for one in cases if case in str(one[3]) and wanted in ("", one[3].dtype)]
    if not wished:
        raise UsageError(
            f"no case matches {' '.join(filter(None, (case, dtype))) or 'anything'}",
            f"there are {', '.join(str(one[3]) for one in cases[:12]) or 'none'}",
        )
    work = list(_distinct(wished))
    if not work:
        raise UsageError(
            "of these cases there is nothing to tune: they have one tactic, or are too large",
            "the emulated device takes small ones; --case chooses",
        )
    return work


def _functions(folder: OpFolder) -> Iterator[tuple[OpFolder, Any, Tactics, str]]:
    module = folder.load("op")
    for declared in folder.declarations():
        function = getattr(module, declared.name)
        tactics = getattr(getattr(function, "run", function), "tactics", None)
        if tactics is not None:
            yield folder, function, tactics, _backend(declared)


def _backend(declared: Declaration) -> str:
    """Return the backend that a call gets here, by architecture: its tactics may depend on it."""
    archs = [ARCH] if settings.DEVICE.get() == "emu" else [gpu.arch for gpu in visible_gpus()]
    names = (name for name, rule in declared.backends.items() if any(map(rule.supports, archs)))
    return next(names, AUTO)


def _distinct(cases: list[tuple[Any, Tactics, str, Case]]) -> Iterator[TuningWork]:
    seen = set()
    for function, tactics, backend, case in cases:
        template = tactics.op.template
        if _is_too_large(template, case):
            continue
        call = tactics.untuned_call(_stand_ins(tactics, template, backend, case))
        if call is None or len(call.candidates) < 2 or (tactics.op.api, call.text) in seen:
            continue
        seen.add((tactics.op.api, call.text))
        labels = tuple(label(spelled(tactic)) for tactic in call.candidates)
        yield TuningWork(function, tactics, case, call.text, labels)


def _is_too_large(template: TraceTemplate, case: Case) -> bool:
    emulated = settings.DEVICE.get() == "emu"
    return emulated and template.elements(case.sizes, case.passing) > MOST_ELEMENTS


def _stand_ins(
    tactics: Tactics, template: TraceTemplate, backend: str, case: Case
) -> dict[str, Any]:
    """Make meta tensors as arguments: a key depends on sizes and dtypes only."""
    import torch

    known = case_sizes(template, case)
    arguments: dict[str, Any] = dict(tactics.defaults)
    if arguments.get("backend") == AUTO:
        arguments["backend"] = backend
    dtypes: dict[str, torch.dtype] = {}
    for name, spec in template.inputs.items():
        parameter = template.parameter(name)
        if not isinstance(spec, Tensor):
            value: Any = {**known, **case.scalars}.get(name, spec.value)
        elif spec.optional and name not in case.passing:
            value = None
        else:
            dtypes[name] = dtypes.get(spec.dtype_from) or getattr(torch, spec.dtype or case.dtype)
            shape = [known[axis] for axis in spec.axes]
            value = torch.empty(shape, dtype=dtypes[name], device="meta")
        if parameter in tactics.names:
            arguments[parameter] = value
    return arguments
