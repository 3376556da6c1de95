"""Check of traces against their ops, and of stored definitions against their traces."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.case.definitions import Traced
from fictl.case.inputs import case_inputs
from fictl.case.parameters import flat_parameters, input_parameters
from fictl.errors import FictlError
from fictl.paths import matching, write_atomic
from fictl.trace import Definition, Expr
from fictl.user_file import read_text

# A reference runs on the CPU here, only to check that its text is complete.
_MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True)
class TraceFinding:
    """A problem of one function's trace (`inconsistent`) or of one of its files.

    content: what the file at `path` should hold; '' if it should not exist.
    """

    kind: str
    op: str
    text: str
    path: Path | None = None
    diff: str = ""
    content: str = field(default="", repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "op": self.op,
            "text": self.text,
            "path": str(self.path) if self.path else None,
            "diff": self.diff,
        }


def check(traced: Traced) -> Iterator[TraceFinding]:
    """Find problems of a function's trace and definitions; no file is written."""
    try:
        problems = list(_inconsistent(traced))
        wanted = traced.definitions()
        problems += _not_alone(traced, wanted)
    except FictlError as error:
        yield TraceFinding("inconsistent", traced.name, error.message)
        return
    yield from (TraceFinding("inconsistent", traced.name, problem) for problem in problems)
    yield from _files(traced, wanted)


def update_definitions(findings: Iterable[TraceFinding]) -> list[Path]:
    """Write files that are missing or differ, remove stale ones; return their paths."""
    changed = []
    for finding in findings:
        if finding.path is None:
            continue
        changed.append(finding.path)
        if finding.content:
            finding.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(finding.path, finding.content)
        else:
            finding.path.unlink()
    return changed


def _inconsistent(traced: Traced) -> Iterator[str]:
    template, op = traced.template, traced.op
    parameters = flat_parameters(getattr(traced.folder.load("op"), traced.name))
    inputs = input_parameters(template)
    for name in sorted(inputs - {*parameters}):
        yield f"the input {name} is not a parameter of {traced.name}"
    for name, parameter in parameters.items():
        is_given = name in {*inputs, *op.mutates} or (template.bind and name in template.at_default)
        if not is_given and parameter.default is parameter.empty:
            yield f"the parameter {name} has no default and is not an input"
    known = {axis for _, spec in template.input_tensors() for axis in spec.axes}
    by_group = template.op_type == "comm"  # Its group tells how many ranks there are.
    for name, axis in template.axes.items():
        fixed = getattr(axis, "value", None) is not None or isinstance(axis, Expr)
        if name not in known and name not in template.inputs and not fixed and not by_group:
            yield f"no input tells the size of the axis {name}"
    if not traced.cases:
        yield "bench.py has no case of it"
    for dtype in sorted({case.dtype for case in traced.cases}):
        if dtype not in {declared.name for declared in op.dtypes}:
            yield f"a case is for {dtype}, the op for {' '.join(d.short for d in op.dtypes)}"


def _not_alone(traced: Traced, wanted: dict[str, Definition]) -> Iterator[str]:
    """Run the embedded reference by itself, on the smallest case, if that is small enough."""
    elements = {id(c): traced.template.elements(c.sizes, c.passing) for c in traced.cases}
    smallest = min(traced.cases, key=lambda case: elements[id(case)], default=None)
    if smallest is None or elements[id(smallest)] > _MOST_ELEMENTS:
        return
    definition = wanted[traced.definition(smallest).name]
    inputs = case_inputs(traced.template, smallest, "cpu")
    if traced.template.validate is not None:
        try:
            traced.template.validate(**inputs)
        except ValueError as error:
            yield f"its own validate refuses the inputs of {smallest}: {error}"
    try:
        run_reference(definition, traced.template, inputs)
    except Exception as error:
        yield f"the reference of {definition.name} does not run by itself: {error!r}"


def run_reference(definition: Definition, template: Any, inputs: dict[str, Any]) -> Any:
    """Run the reference in the definition's text; `inputs` are by parameter."""
    namespace: dict[str, Any] = {"__name__": definition.name}
    code = compile(definition.reference, f"<{definition.name}>", "exec")
    exec(code, namespace)  # noqa: S102 what it is for
    return namespace["run"](*(inputs[template.parameter(name)] for name in definition.inputs))


def _files(traced: Traced, wanted: dict[str, Definition]) -> Iterator[TraceFinding]:
    op = traced.name
    for name, definition in wanted.items():
        path, new = traced.place / f"{name}.json", definition.to_json()
        if not os.path.isfile(path):
            yield TraceFinding("missing", op, f"there is no {path}", path, content=new)
            continue
        old = read_text(path, errors="replace")
        if old != new:
            lines = difflib.unified_diff(
                old.splitlines(), new.splitlines(), "committed", "now", lineterm=""
            )
            yield TraceFinding("differs", op, f"{path} differs", path, "\n".join(lines), new)
    for path in matching(traced.place, "*.json"):
        if path.stem not in wanted:
            yield TraceFinding("stale", op, f"no case makes {path} any more", path)
