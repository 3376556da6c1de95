"""Checks of definitions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

from fictl.errors import UsageError
from fictl.trace.dataset.check.finding import Finding, in_document, unreadable
from fictl.trace.dataset.check.scope import Scope
from fictl.trace.documents.definition import Definition
from fictl.trace.documents.reading import NotReadable
from fictl.trace.documents.sizes import can_be_told, check_constraints
from fictl.trace.documents.tensor_spec import PUBLISHED_TYPES, is_digits


def check_definitions(scope: Scope) -> Iterator[Finding]:
    for path in scope.files.definitions():
        try:
            definition = Definition.read(path)
        except NotReadable as error:
            scope.unreadable.add(path.stem)
            if scope.wants("definition") and scope.has_file(path):
                yield from unreadable("definition-unreadable", error)
            continue
        first = scope.definitions.setdefault(definition.name, (definition, path))
        if scope.has(definition.name):
            yield from _of_one(scope, definition, path, first[1])
    if scope.wants("layout") and not (scope.definitions or scope.unreadable):
        yield Finding("layout-empty", scope.files.root, "it has no definitions", level="warning")


def _of_one(scope: Scope, definition: Definition, path: Path, first: Path) -> Iterator[Finding]:
    if path != first:
        yield in_document(
            "definition-duplicate", path, f"{first} is named {definition.name} too", "name"
        )
        return
    scope.counts["definitions"] += 1
    expected = scope.files.definition(definition.op_type, definition.name)
    if scope.wants("layout") and not scope.files.is_sol and path != expected:
        yield Finding("layout-misplaced", path, f"its place is {expected}")
    if scope.wants("definition"):
        yield from _parameters(definition, path)
        yield from _init(definition, path)
        yield from _constraints(definition, path)
        yield from _portability(definition, path)


def _parameters(definition: Definition, path: Path) -> Iterator[Finding]:
    """Check that the reference takes the inputs in their order."""
    functions = (n for n in ast.parse(definition.reference).body if isinstance(n, ast.FunctionDef))
    arguments = next(node.args for node in functions if node.name == "run")
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is None and names != [*definition.inputs]:
        yield in_document(
            "definition-parameters",
            path,
            f"run takes ({', '.join(names)}), the inputs are ({', '.join(definition.inputs)})",
            "reference",
        )


def _init(definition: Definition, path: Path) -> Iterator[Finding]:
    if definition.init is None:
        return
    try:
        has_function = any(
            isinstance(node, ast.FunctionDef) for node in ast.parse(definition.init).body
        )
        problem = "" if has_function else "it has no function"
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        problem = f"not valid Python: {error}"
    if problem:
        yield in_document("definition-init", path, problem, "init")


def _constraints(definition: Definition, path: Path) -> Iterator[Finding]:
    known = [*definition.axes, *(n for n, spec in definition.inputs.items() if spec.shape is None)]
    for index, text in enumerate(definition.constraints):
        if problem := _constraint(definition, text):
            yield in_document("definition-constraint", path, problem, "constraints", index)
        elif not can_be_told(text, known):
            problem = f"{text!r} uses more than axes and scalar inputs: it is not checked"
            yield in_document(
                "definition-constraint", path, problem, "constraints", index, level="note"
            )


def _constraint(definition: Definition, text: str) -> str:
    """Explain why no workload can satisfy a constraint, or which name in it is unknown."""
    there = {
        *definition.axes,
        *definition.inputs,
        *definition.outputs,
        *vars(builtins),
        "torch",
        "math",
    }
    nodes = [*ast.walk(ast.parse(text.strip(), mode="eval"))]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    if unknown := sorted({node.id for node in names} - there - bound):
        return f"{text!r} uses {', '.join(unknown)}, which is not an axis, input or output"
    try:
        check_constraints(definition.name, [text], definition.const_axes)
    except UsageError as error:
        return f"no workload satisfies it: {error.message} ({error.hint})"
    return ""


def _portability(definition: Definition, path: Path) -> Iterator[Finding]:
    """Note what flashinfer-bench's own reader refuses."""
    specs = [
        *(("inputs", *entry) for entry in definition.inputs.items()),
        *(("outputs", *entry) for entry in definition.outputs.items()),
    ]
    foreign = [
        *((("axes", name), "an expression") for name in definition.expr_axes),
        *(
            (("outputs", name), "an input too")
            for name in definition.outputs
            if name in definition.inputs
        ),
        *(
            ((part, name, "dtype"), spec.dtype)
            for part, name, spec in specs
            if spec.dtype not in PUBLISHED_TYPES
        ),
        *(
            ((part, name, "shape"), "a size in digits")
            for part, name, spec in specs
            if any(map(is_digits, spec.shape or ()))
        ),
    ]
    if foreign:
        fields = ", ".join(f"{'.'.join(field)} ({what})" for field, what in foreign)
        text = f"flashinfer-bench cannot read {fields}"
        yield in_document("definition-portability", path, text, *foreign[0][0], level="note")
