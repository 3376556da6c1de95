"""Rules for trace.py: one template per public function, with inputs that match it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from fictl.project.check.problem import Problem
from fictl.project.declaration import Declaration, Parameter
from fictl.project.folder import OpFolder
from fictl.project.python_source import assigned, parse

# Parameters that select how an op runs, not what it computes.
_CONTROLS = ("enable_pdl", "backend", "tactic")


def templates_match_functions(folder: OpFolder) -> Iterator[Problem]:
    if not os.path.isfile(folder.trace):
        return
    tree = parse(folder.trace)
    for declaration in folder.declarations():
        template = assigned(tree, declaration.name)
        if not _is_template(template):
            yield Problem(
                "trace",
                folder.trace,
                1,
                f"trace.py has no template {declaration.name}",
                f"{declaration.name} = TraceTemplate(axes=…, inputs={{…}}, outputs={{…}}, …)",
            )
            continue
        assert isinstance(template, ast.Call)
        yield from _compare(folder, declaration, template)


def _is_template(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith("TraceTemplate")


def _compare(folder: OpFolder, declaration: Declaration, template: ast.Call) -> Iterator[Problem]:
    words = {word.arg: word.value for word in template.keywords}
    traced = _keys(words.get("inputs"), folder.trace)
    if traced is None:
        yield Problem(
            "trace",
            folder.trace,
            template.lineno,
            f"{declaration.name}: inputs cannot be read",
            'write a dict literal: inputs={"x": Tensor(…)}',
        )
        return
    known = {parameter.name for parameter in declaration.parameters}
    outputs = {*declaration.outputs, *(_keys(words.get("outputs"), folder.trace) or ())}
    left = {*_texts(words.get("at_default"), folder.trace)}
    needed = {wanted.name for wanted in declaration.parameters if _is_said(wanted)} - outputs - left
    for name in sorted((needed - traced) | ((traced | left) - known - {*_CONTROLS})):
        text = "a parameter that trace.py leaves out" if name in needed else "not a parameter"
        yield Problem(
            "trace",
            folder.trace,
            template.lineno,
            f"{declaration.name}: {name} is {text}",
            f"inputs are the parameters of {declaration.name} without its outputs; at_default=(…,) "
            "names those that tests leave alone",
        )


def _is_said(parameter: Parameter) -> bool:
    """True for parameters that a trace must list: tensors and numbers.

    Defaults that are strings, dtypes or None need not be listed.
    """
    if parameter.name in _CONTROLS:
        return False
    if parameter.default is None or "Tensor" in parameter.annotation:
        return True
    return parameter.default != "None" and parameter.default[0] not in "'\""


def _keys(node: ast.expr | None, path: Path) -> set[str] | None:
    """Return the keys of a dict: `{…}`, `dict(…)`, a name of one, `a | b`; None if unknown.

    Names are of this file, or imported from a file of the family.
    """
    if isinstance(node, ast.Name):
        where = _source(node.id, path)
        return _keys(assigned(parse(where), node.id), where)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts = [_keys(side, path) for side in (node.left, node.right)]
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        parts = [_parameter(key, value) if key else _keys(value, path) for key, value in pairs]
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "dict" and not node.args:
        parts = [
            {_named(word.value) or word.arg} if word.arg else _keys(word.value, path)
            for word in node.keywords
        ]
    else:
        return None
    known = [part for part in parts if part is not None]
    return set[str]().union(*known) if len(known) == len(parts) else None


def _texts(node: ast.expr | None, path: Path) -> Iterator[str]:
    """Yield the strings of a tuple, with `*others`, or of a name of one."""
    if isinstance(node, ast.Name):
        where = _source(node.id, path)
        yield from _texts(assigned(parse(where), node.id), where)
    for element in node.elts if isinstance(node, ast.Tuple) else ():
        if isinstance(element, ast.Constant):
            yield str(element.value)
        elif isinstance(element, ast.Starred):
            yield from _texts(element.value, path)


def _source(name: str, path: Path) -> Path:
    """Return the file that assigns a name; follows `from .._family import NAME`."""
    imports = [statement for statement in parse(path).body if isinstance(statement, ast.ImportFrom)]
    for statement in imports:
        if (
            statement.level == 2
            and statement.module
            and name in (alias.name for alias in statement.names)
        ):
            source = path.parents[1].joinpath(*statement.module.split(".")).with_suffix(".py")
            return source if os.path.isfile(source) else path
    return path


def _parameter(key: ast.expr, value: ast.expr) -> set[str] | None:
    return {_named(value) or str(key.value)} if isinstance(key, ast.Constant) else None


def _named(value: ast.expr) -> str:
    """Return x of `Tensor(…, param="x")`, for an input named differently in the function."""
    words = value.keywords if isinstance(value, ast.Call) else []
    values = (word.value for word in words if word.arg == "param")
    return next((str(item.value) for item in values if isinstance(item, ast.Constant)), "")
