"""Rules for the files of an op and its family, and their content (docs/architecture.md)."""

from __future__ import annotations

import ast
import keyword
import os
import re
from collections.abc import Iterator
from pathlib import Path

from fictl.paths import matching
from fictl.project.check.problem import Problem
from fictl.project.folder import OpFolder
from fictl.project.project import Project
from fictl.project.python_source import definitions, parse
from fictl.user_file import read_text

_TEST = re.compile(r"^[ \t]*def test", re.MULTILINE)
# Sub-modules of every mounted project, and folders with another meaning.
_RESERVED = ("ops", "include", "binding", "cmake")


def files_are_there(folder: OpFolder) -> Iterator[Problem]:
    has_kernel = bool(folder.headers) or os.path.isfile(folder.triton)
    kernel = [
        (has_kernel, folder.header, "the kernel and its host launch template"),
        (bool(folder.launchers), folder.path / "launcher.cu", "DLPack views -> dtype dispatch"),
        (os.path.isfile(folder.binding), folder.binding, "the TVM-FFI exports and argument checks"),
    ]
    required = [
        *([] if folder.is_composed else kernel),
        (os.path.isfile(folder.trace), folder.trace, "a TraceTemplate per public function"),
        (os.path.isfile(folder.bench), folder.bench, "cases()"),
    ]
    # fictl's wheel contains its kernels without tests.
    if not (folder.project.is_shipped and not os.path.isdir(folder.project.tests)):
        required.append((os.path.isfile(folder.test), folder.test, "what the trace cannot say"))
    for present, path, purpose in required:
        if not present:
            yield Problem("files", path, 1, f"{folder} lacks {path.name}", f"add it: {purpose}")


def jit_is_there_where_it_is_needed(folder: OpFolder) -> Iterator[Problem]:
    """Check that op.py uses jit.py's module if there is one, else the default module."""
    if os.path.isfile(folder.jit):
        for line in _default_modules(parse(folder.op)):
            yield Problem(
                "jit",
                folder.op,
                line,
                "op.py calls the default module, and jit.py is built",
                "from .jit import module, and KernelModule(module); or delete jit.py",
            )
        return
    if folder.needs_jit and not folder.is_composed:
        yield Problem(
            "files",
            folder.jit,
            1,
            f"{folder} lacks jit.py: {folder.needs_jit}",
            "add it: module() and aot()",
        )


def _default_modules(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of `KernelModule(__file__)`."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    for call in calls:
        is_module = ast.unparse(call.func).rpartition(".")[2] == "KernelModule"
        if is_module and "__file__" in map(ast.unparse, call.args):
            yield call.lineno


def names_are_importable(folder: OpFolder) -> Iterator[Problem]:
    for name in (folder.family, folder.module):
        if not name.isidentifier() or keyword.iskeyword(name):
            yield Problem(
                "names",
                folder.op,
                1,
                f"folder {name!r} cannot be imported",
                "letters, digits and '_', not a Python keyword",
            )
    if folder.family in _RESERVED:
        yield Problem(
            "names",
            folder.op,
            1,
            f"{folder.family!r} cannot be a family: it means something else",
            f"another name than {', '.join(_RESERVED)}",
        )


def python_files_define_their_part(folder: OpFolder) -> Iterator[Problem]:
    if not folder.declarations():
        yield Problem(
            "defines", folder.op, 1, "op.py declares no op", "decorate a function with @op(...)"
        )
    parts = (
        (folder.jit, ("module", "aot")),
        (folder.bench, ("cases",)),
        (folder.triton, ("variants",)),
    )
    for path, wanted in parts:
        defined = definitions(parse(path)) if os.path.isfile(path) else dict.fromkeys(wanted)
        for name in wanted:
            if name not in defined:
                yield Problem(
                    "defines", path, 1, f"{path.name} defines no {name}", f"def {name}(): …"
                )


def entries_yield_something(folder: OpFolder) -> Iterator[Problem]:
    """Refuse empty aot() and cases(): nobody would notice that nothing ships or runs."""
    for path, name in ((folder.jit, "aot"), (folder.bench, "cases")):
        function = definitions(parse(path)).get(name) if os.path.isfile(path) else None
        if isinstance(function, ast.FunctionDef) and not _gives_something(function):
            yield Problem(
                "empty",
                path,
                function.lineno,
                f"{name}() yields nothing",
                "yield module()" if name == "aot" else "yield Case(…) for sizes that users have",
            )


def _gives_something(function: ast.FunctionDef) -> bool:
    def is_empty(value: ast.expr | None) -> bool:
        literal = isinstance(value, ast.List | ast.Tuple) and not value.elts
        return value is None or literal or ast.unparse(value) in ("None", "iter(())", "iter([])")

    return any(
        isinstance(node, ast.Yield)
        or (isinstance(node, ast.YieldFrom | ast.Return) and not is_empty(node.value))
        for node in ast.walk(function)
    )


def a_test_exists(folder: OpFolder) -> Iterator[Problem]:
    if os.path.isfile(folder.test) and not any(_TEST.search(_text(p)) for p in folder.tests):
        yield Problem(
            "tests",
            folder.test,
            1,
            f"{folder.test.name} has no test",
            "def test_…: what the trace cannot say, as edges, strides and refusals",
        )


def headers_open_with_their_story(folder: OpFolder) -> Iterator[Problem]:
    """Require a comment at the top of shipped headers: algorithm, memory traffic, reasons."""
    for path in folder.headers if folder.project.is_shipped else ():
        if not _text(path).lstrip().startswith(("//", "/*")):
            yield Problem(
                "opens",
                path,
                1,
                f"{path.name} does not open with a comment",
                "algorithm, memory traffic, and why this tiling",
            )


def _text(path: Path) -> str:
    return read_text(path, errors="replace")


def private_folders_hold_no_op(project: Project) -> Iterator[Problem]:
    """Refuse ops in folders that begin with `_`: these hold Python that a family shares."""
    for path in matching(project.kernels, "[!._]*/_*/op.py"):
        yield Problem(
            "private",
            path,
            1,
            f"{path.parent.name}/ is private to its family: no op is found there",
            f"rename the folder to {path.parent.name.lstrip('_') or 'the name of the op'}",
        )


def kernels_is_no_package(project: Project) -> Iterator[Problem]:
    """Refuse kernels/__init__.py: it would shadow an installed package named `kernels`."""
    path = project.kernels / "__init__.py"
    if os.path.isfile(path):
        yield Problem("no-init", path, 1, "kernels/ is not a Python package", "delete the file")
