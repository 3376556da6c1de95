"""What `fictl tune` has to do: the cases of ops with tactics, one for each key."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from fictl import settings
from fictl.dtype import parse_dtype
from fictl.emu.device import MOST_ELEMENTS
from fictl.errors import UsageError
from fictl.op.tactics.spelling import label, spelled
from fictl.op.tactics.tactics import Tactics
from fictl.project import OpFolder, select
from fictl.trace import Case, Tensor, TraceTemplate


@dataclass(frozen=True)
class Work:
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


def plan(ops: Collection[str], case: str = "", dtype: str = "") -> list[Work]:
    """`case` is a part of names; an error where nothing is left of what was asked for."""
    wanted = parse_dtype(dtype).name if dtype else ""
    tunable = [each for folder in select(ops) for each in _functions(folder)]
    if not tunable:
        raise UsageError(
            f"{' '.join(ops) or 'no op here'} has no tactics",
            "an op declares them by @op(…, tactics=…)",
        )
    cases = [
        (function, tactics, each)
        for folder, function, tactics in tunable
        for each in folder.cases()
        if each.function == tactics.op.name
    ]
    found = [each for each in cases if case in str(each[2]) and wanted in ("", each[2].dtype)]
    if not found:
        raise UsageError(
            f"no case matches {' '.join(filter(None, (case, dtype))) or 'anything'}",
            f"there are {', '.join(str(each[2]) for each in cases[:12]) or 'none'}",
        )
    work = list(_distinct(found))
    if not work:
        raise UsageError(
            "of these cases there is nothing to tune: they have one tactic, or are too large",
            "the emulated device takes small ones; --case chooses",
        )
    return work


def _functions(folder: OpFolder) -> Iterator[tuple[OpFolder, Any, Tactics]]:
    module = folder.load("op")
    for declared in folder.declarations():
        function = getattr(module, declared.name)
        tactics = getattr(getattr(function, "run", function), "tactics", None)
        if tactics is not None:
            yield folder, function, tactics


def _distinct(cases: list[tuple[Any, Tactics, Case]]) -> Iterator[Work]:
    seen = set()
    for function, tactics, case in cases:
        template = tactics.op.template
        if _is_too_large(template, case):
            continue
        call = tactics.untuned_call(_stand_ins(tactics, template, case))
        if call is None or len(call.candidates) < 2 or (tactics.op.api, call.text) in seen:
            continue
        seen.add((tactics.op.api, call.text))
        labels = tuple(label(spelled(each)) for each in call.candidates)
        yield Work(function, tactics, case, call.text, labels)


def _is_too_large(template: TraceTemplate, case: Case) -> bool:
    emulated = settings.DEVICE.get() == "emu"
    return emulated and template.elements(case.sizes, case.passing) > MOST_ELEMENTS


def _stand_ins(tactics: Tactics, template: TraceTemplate, case: Case) -> dict[str, Any]:
    """Arguments that hold nothing: a key looks at sizes and dtypes only."""
    import torch

    known = template.check_sizes(case.sizes, absent=template.optional_axes(case.passing))
    made: dict[str, Any] = dict(tactics.defaults)
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
            made[parameter] = value
    return made
