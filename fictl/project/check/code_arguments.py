"""Rules for functions passed to `@op`, as in `backward=`: defined, with fitting parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fictl.project.backward_names import known_to_backward
from fictl.project.check.problem import Problem
from fictl.project.declaration import Declaration
from fictl.project.decoration import CODE, decorator_of
from fictl.project.folder import OpFolder
from fictl.project.python_source import definitions, parse


def functions_are_there(folder: OpFolder) -> Iterator[Problem]:
    tree = parse(folder.op)
    bound = _bound(tree.body)
    for node, decorator in _decorated(tree):
        for word in decorator.keywords:
            for value in _functions(word) if word.arg in CODE else ():
                # Names from `import *` are unknown here.
                statement = bound.get(_first_name(value)) or bound.get("*")
                if isinstance(value, ast.Lambda) or _is_callable(statement, value, node):
                    continue
                yield Problem(
                    "functions",
                    folder.op,
                    value.lineno,
                    f"{node.name}: {word.arg}={ast.unparse(value)} names no function above it",
                    "write or import the function before the op, and pass its name",
                )


def backwards_fit_their_ops(folder: OpFolder) -> Iterator[Problem]:
    tree = parse(folder.op)
    bound = definitions(tree)
    declared = {declaration.name: declaration for declaration in folder.declarations()}
    for node, decorator in _decorated(tree):
        given = {word.arg: word.value for word in decorator.keywords}
        if "backward" not in given:
            continue
        value, op = given["backward"], declared[node.name]
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
    known = known_to_backward((parameter.name for parameter in op.parameters), op.mutates)
    for name in _required(function.args):
        if name not in known:
            yield f"its backward takes {name!r}", f"it takes any of {', '.join(known)}, by name"


def _required(given: ast.arguments) -> list[str]:
    """Return the parameters without a default."""
    positional = [*given.posonlyargs, *given.args]
    bare = positional[: len(positional) - len(given.defaults)]
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [
        argument.arg
        for argument in (*bare, *(argument for argument, default in named if default is None))
    ]


def _decorated(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.ClassDef, ast.Call]]:
    """Yield definitions with their `@op`; for a class, the decorator of its run."""
    for node in tree.body:
        methods = node.body if isinstance(node, ast.ClassDef) else [node]
        for method in methods:
            decorator = decorator_of(method) if isinstance(method, ast.FunctionDef) else None
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and isinstance(decorator, ast.Call):
                yield node, decorator


def _functions(word: ast.keyword) -> list[ast.expr]:
    """Return the functions of an argument; `checks` has one per backend."""
    return word.value.values if isinstance(word.value, ast.Dict) else [word.value]


def _first_name(value: ast.expr) -> str:
    while isinstance(value, ast.Attribute):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _bound(statements: list[ast.stmt]) -> dict[str, ast.stmt]:
    """Map names bound at module level to statements; of an `if` or `try`, the first branch."""
    bound: dict[str, ast.stmt] = {}
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names = [(alias.asname or alias.name).partition(".")[0] for alias in statement.names]
            bound.update(dict.fromkeys(names, statement))
        for field in ("body", "orelse", "finalbody", "handlers"):
            inner = getattr(statement, field, ())
            if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                bound = {**_bound([*inner]), **bound}
    return {**bound, **definitions(ast.Module(statements, []))}


def _is_callable(statement: ast.stmt | None, value: ast.expr, node: ast.stmt) -> bool:
    """True for a call, and for a name that is bound above the op and may be a function."""
    if isinstance(value, ast.Call):
        return True
    if statement is None or statement.lineno > node.lineno:
        return False
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return not isinstance(statement.value, ast.Constant | ast.List | ast.Dict | ast.Tuple)
    return True
