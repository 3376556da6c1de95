"""Raw functions: those of an op's compiled module, as thin Python functions."""

from __future__ import annotations

import ast
import keyword
import os
from collections.abc import Iterator
from dataclasses import dataclass

from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.project.cpp_source import CppSignature, read_cpp
from fictl.project.python_source import parse

_TYPES = {
    "View": "torch.Tensor",
    "Optional<View>": "torch.Tensor | None",
    "bool": "bool",
    "double": "float",
    "int64_t": "int",
    "string": "str",
    "String": "str",
    "void": "None",
}


@dataclass(frozen=True)
class RawFunction:
    """A function that binding.cpp exports; parameters are (name, Python type).

    A parameter of the name `*arguments` stands for all those that could not be read.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str
    doc: str = ""

    @property
    def signature(self) -> str:
        listed = ", ".join(f"{name}: {kind}" for name, kind in self.parameters)
        return f"{self.name}({listed}) -> {self.result}"


def raw_functions(folder: OpFolder) -> tuple[tuple[RawFunction, ...], tuple[str, ...]]:
    """Return the functions to export, and the reasons why others of the op are left out.

    A function is exported if its compiled form has its own name. What belongs to it, such as the
    size of a workspace, comes along; what the op plans or chooses in Python does not.
    """
    if folder.is_composed:
        raise UsageError(
            f"{folder} has no module of its own: it is composed of other ops",
            "export the ops that it uses",
        )
    public = [declared.name for declared in folder.declarations()]
    functions = dict(_functions(folder))
    wanted = [name for name in functions if any(_belongs(name, to) for to in public)]
    left_out = tuple(_why(name, functions) for name in public if name not in functions)
    if not any(name in functions for name in public):
        raise UsageError(
            f"{folder} cannot be exported: {'; '.join(left_out)}",
            "export-op without --to copies the op with its Python code",
        )
    return tuple(functions[name] for name in wanted), left_out


def _belongs(name: str, to: str) -> bool:
    return name in (to, f"{to}_workspace")


def _why(name: str, functions: dict[str, RawFunction]) -> str:
    compiled = ", ".join(functions) or "nothing"
    return (
        f"{name} is put together in Python, from what its module exports ({compiled}), "
        "and a thin file cannot carry that"
    )


def _functions(folder: OpFolder) -> Iterator[tuple[str, RawFunction]]:
    if not os.path.isfile(folder.binding):
        return
    source = read_cpp(folder.binding)
    docs = _docs(folder)
    for name in source.exports:
        if name.isidentifier() and not keyword.iskeyword(name):
            yield name, _of(name, source.signature(name), docs.get(name, ""))


def _of(name: str, signature: CppSignature | None, doc: str) -> RawFunction:
    if signature is None:  # It is defined in a header, or by a macro.
        return RawFunction(name, (("*arguments", "object"),), "object", doc)
    parameters = tuple(
        (parameter, _TYPES.get(kind, "object")) for kind, parameter in signature.parameters
    )
    return RawFunction(name, parameters, _TYPES.get(signature.result, "object"), doc)


def _docs(folder: OpFolder) -> dict[str, str]:
    """Map public functions to their docstrings."""
    nodes = [node for node in parse(folder.op).body if isinstance(node, ast.FunctionDef)]
    return {node.name: ast.get_docstring(node) or "" for node in nodes}
