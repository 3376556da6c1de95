"""trace.py has a template for each public function, and its inputs are the function's own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fictl.project.check.problem import Problem
from fictl.project.declaration import Declaration, Parameter
from fictl.project.folder import OpFolder
from fictl.project.python_source import assigned, parse

# How an op runs, not what it computes.
_CONTROLS = ("enable_pdl", "backend", "tactic")


def templates_match_functions(folder: OpFolder) -> Iterator[Problem]:
    if not folder.trace.is_file():
        return
    tree = parse(folder.trace)
    for declaration in folder.declarations():
        template = assigned(tree, declaration.name)
        if not _is_template(template):
            yield Problem(
                "trace", folder.trace, 1, f"trace.py has no template {declaration.name}",
                f"{declaration.name} = TraceTemplate(axes=…, inputs={{…}}, outputs={{…}}, …)",
            )  # fmt: skip
            continue
        assert isinstance(template, ast.Call)
        yield from _compare(folder, declaration, template, tree)


def _is_template(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith("TraceTemplate")


def _compare(
    folder: OpFolder, declaration: Declaration, template: ast.Call, tree: ast.Module
) -> Iterator[Problem]:
    words = {word.arg: word.value for word in template.keywords}
    traced = _keys(words.get("inputs"), tree)
    if traced is None:
        yield Problem(
            "trace", folder.trace, template.lineno, f"{declaration.name}: inputs cannot be read",
            'write a dict literal: inputs={"x": Tensor(…)}',
        )  # fmt: skip
        return
    known = {parameter.name for parameter in declaration.parameters}
    outputs = {*declaration.outputs, *(_keys(words.get("outputs"), tree) or ())}
    needed = {each.name for each in declaration.parameters if _is_said(each)} - outputs
    for name in sorted((needed - traced) | (traced - known - {*_CONTROLS})):
        said = "a parameter that trace.py leaves out" if name in needed else "no parameter"
        yield Problem(
            "trace", folder.trace, template.lineno, f"{declaration.name}: {name} is {said}",
            f"inputs are the parameters of {declaration.name} without its outputs",
        )  # fmt: skip


def _is_said(parameter: Parameter) -> bool:
    """Tensors and numbers are. A word, a dtype, and None for a number: these stay at the default."""
    if parameter.name in _CONTROLS:
        return False
    if parameter.default is None or "Tensor" in parameter.annotation:
        return True
    return parameter.default != "None" and parameter.default[0] not in "'\""


def _keys(node: ast.expr | None, tree: ast.Module) -> set[str] | None:
    """Of a dict: `{…}`, `dict(…)`, a name for one in this file, `a | b`; None if it is unclear."""
    if isinstance(node, ast.Name):
        return _keys(assigned(tree, node.id), tree)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts = [_keys(side, tree) for side in (node.left, node.right)]
    elif isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        parts = [_parameter(key, value) if key else _keys(value, tree) for key, value in pairs]
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "dict" and not node.args:
        parts = [
            {_named(word.value) or word.arg} if word.arg else _keys(word.value, tree)
            for word in node.keywords
        ]
    else:
        return None
    known = [part for part in parts if part is not None]
    return set[str]().union(*known) if len(known) == len(parts) else None


def _parameter(key: ast.expr, value: ast.expr) -> set[str] | None:
    return {_named(value) or str(key.value)} if isinstance(key, ast.Constant) else None


def _named(value: ast.expr) -> str:
    """Of `Tensor(…, param="x")`, where the definition has another name than the function."""
    words = value.keywords if isinstance(value, ast.Call) else []
    found = (word.value for word in words if word.arg == "param")
    return next((str(each.value) for each in found if isinstance(each, ast.Constant)), "")
