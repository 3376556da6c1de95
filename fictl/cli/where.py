"""fictl where: the files of an op, or of the C++ library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fictl.cli import console
from fictl.cli.options import Json, Ops
from fictl.errors import UsageError

if TYPE_CHECKING:
    from fictl.project import OpFolder

_DEFAULT_JIT = "one module of these files, fictl.op.module_spec; a jit.py here replaces it"


EXAMPLES = {
    "fictl where rmsnorm": "the files of an op",
    "g++ -I $(fictl where --include) main.cpp": "the headers, for a compiler",
}


def command(
    ops: Ops = None,
    include: Annotated[
        bool, typer.Option("--include", help="Print the include folder for -I.", show_default=False)
    ] = False,
    cmake: Annotated[
        bool,
        typer.Option(
            "--cmake", help="Print the CMake folder for find_package.", show_default=False
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Print where an op's files are, or the C++ library of its project."""
    from fictl.project import Project, select

    if (include and cmake) or not (include or cmake or ops):
        raise UsageError(
            "name ops, or one of --include and --cmake", "fictl where OP, --include or --cmake"
        )
    folders = select(ops) if ops else ()
    if include or cmake:
        project = folders[0].project if folders else Project.at()
        path = project.include if include else Project.shipped().kernels / "cmake"
        console.show(console.Result({"path": str(path)}, str(path)))
    else:
        described = [_described(folder) for folder in folders]
        console.show(console.Result(described, "\n".join(_lines(described))))


def _described(folder: OpFolder) -> dict[str, Any]:
    functions = [
        {"name": declaration.name, "line": declaration.line}
        for declaration in folder.declarations()
    ]
    files = [{"part": part, "path": str(path)} for part, path in folder.files()]
    return {"op": str(folder), "functions": functions, "files": files}


def _lines(described: Iterable[dict[str, Any]]) -> Iterator[str]:
    for op in described:
        yield op["op"]
        for file in op["files"]:
            yield f"  {file['part']:8}  {file['path']}"
            if file["part"] == "binding" and not _has_jit(op):
                yield f"  {'jit':8}  the default: {_DEFAULT_JIT}"
        source = next(file["path"] for file in op["files"] if file["part"] == "op")
        for function in op["functions"]:
            yield f"  {function['name'] + '()':8}  {source}:{function['line']}"


def _has_jit(op: dict[str, Any]) -> bool:
    return any(file["part"] == "jit" for file in op["files"])
