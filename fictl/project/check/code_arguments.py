"""What `@op` is given to call, as `backward=`: a function that is there, with parameters that fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fictl.project.check.problem import Problem
from fictl.project.declaration import Declaration
from fictl.project.decoration import CODE, decorator_of
from fictl.project.folder import OpFolder
from fictl.project.python_source import definitions, parse

_NEEDS = "needs_grad"


def functions_are_there(folder: OpFolder) -> Iterator[Problem]:
    tree = parse(folder.op)
    bound = {**_imports(tree), **definitions(tree)}
    for node, decorator in _decorated(tree):
        for word in decorator.keywords:
            for value in _functions(word) if word.arg in CODE else ():
                found = bound.get(_first_name(value))
                if isinstance(value, ast.Lambda) or _is_callable(found, value, node):
                    continue
                yield Problem(
                    "functions", folder.op, value.lineno,
                    f"{node.name}: {word.arg}={ast.unparse(value)} names no function above it",
                    "write or import the function before the op, and pass its name",
                )  # fmt: skip


def backwards_fit_their_ops(folder: OpFolder) -> Iterator[Problem]:
    tree = parse(folder.op)
    bound = definitions(tree)
    declared = {each.name: each for each in folder.declarations()}
    for node, decorator in _decorated(tree):
        said = {word.arg: word.value for word in decorator.keywords}
        if "backward" not in said:
            continue
        value, op = said["backward"], declared[node.name]
        function = value if isinstance(value, ast.Lambda) else bound.get(_first_name(value))
        for message, fix in _misfits(node, op, function):
            yield Problem("backward", folder.op, value.lineno, f"{op.name}: {message}", fix)


def _misfits(
    node: ast.FunctionDef | ast.ClassDef, op: Declaration, function: ast.AST | None
) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.ClassDef):
        yield "a class with plan and run has no backward", "declare a function"
    for name in sorted({*op.mutates} - {*op.outputs}):
        yield f"it has a backward, and writes its argument '{name}'", f"let {name}=None allocate it"
    if not isinstance(function, ast.FunctionDef | ast.Lambda):
        return
    results = op.mutates or ("out",)
    known = dict.fromkeys(
        [*(f"grad_{name}" for name in results), *results, *(p.name for p in op.parameters), _NEEDS]
    )
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    needed = len(every) - len(given.kwonlyargs) - len(given.defaults)
    for place, each in enumerate(every):
        optional = (
            given.kw_defaults[place - len(every) + len(given.kwonlyargs)] is not None
            if each in given.kwonlyargs
            else place >= needed
        )
        if each.arg not in known and not optional:
            yield f"its backward takes {each.arg!r}", f"it takes any of {', '.join(known)}, by name"


def _decorated(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.ClassDef, ast.Call]]:
    """Public names; of a class, with what decorates its run."""
    for node in tree.body:
        methods = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in methods:
            found = decorator_of(each) if isinstance(each, ast.FunctionDef) else None
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and isinstance(found, ast.Call):
                yield node, found


def _functions(word: ast.keyword) -> list[ast.expr]:
    """`checks` has one for each backend."""
    return word.value.values if isinstance(word.value, ast.Dict) else [word.value]


def _first_name(value: ast.expr) -> str:
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _imports(tree: ast.Module) -> dict[str, ast.stmt]:
    found = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    return {
        (alias.asname or alias.name).partition(".")[0]: each
        for each in found
        for alias in each.names
    }


def _is_callable(found: ast.stmt | None, value: ast.expr, node: ast.stmt) -> bool:
    """Bound above the op, to something that may be a function; what is called gives one."""
    if isinstance(value, ast.Call):
        return True
    if found is None or found.lineno > node.lineno:
        return False
    if isinstance(found, ast.Assign | ast.AnnAssign):
        return not isinstance(found.value, ast.Constant | ast.List | ast.Dict | ast.Tuple)
    return True
