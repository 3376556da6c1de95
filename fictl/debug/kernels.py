"""Names of the kernels of a module, from its sources, for breakpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fictl.emu.symbols import plain_name
from fictl.errors import UsageError
from fictl.jit.spec import JitSpec
from fictl.process import ask
from fictl.project.cpp_source import CppSource, reach
from fictl.toolchain import find_tool

_BRACKETS = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
# Attributes and macros, some with arguments, may come between __global__ and the name.
_KERNEL = re.compile(
    r"\b__global__\s+"
    rf"(?:(?:void|static|inline|extern|\"C\"|__\w+__|[A-Z][A-Z0-9_]+)\b(?:\s*{_BRACKETS})?\s*)*"
    r"(?P<name>[A-Za-z_]\w*)\s*\("
)
_TOKEN = re.compile(
    rf"\bnamespace\b(?P<namespace>[^;{{}}=]*)\{{|(?P<brace>[{{}}])|(?P<kernel>{_KERNEL.pattern})"
)
_ANONYMOUS = "(anonymous namespace)"


def sources_of(specs: Iterable[JitSpec]) -> list[CppSource]:
    """All source files of the modules and the files that they include, each once."""
    by_path = {
        source.path: source
        for spec in specs
        for source in reach(spec.sources, (*spec.include_dirs, spec.base))
    }
    return list(by_path.values())


def kernel_names(sources: Iterable[CppSource]) -> list[str]:
    """Qualified names, such as my_kernels::norm::NormKernel, in the order of the text."""
    return list(dict.fromkeys(name for source in sources for name in _names(source.code)))


def _names(code: str) -> Iterator[str]:
    scopes: list[str] = []  # of every open brace: the namespace that it opens, or ''
    for token in _TOKEN.finditer(code):
        if token["namespace"] is not None:
            inline = token["namespace"].replace("inline", " ").strip()
            scopes.append(inline or _ANONYMOUS)
        elif token["brace"] == "{":
            scopes.append("")
        elif token["brace"] == "}":
            del scopes[-1:]
        else:
            yield "::".join([*filter(None, scopes), token["name"]])


def compiled(names: Sequence[str], modules: Iterable[Path]) -> list[str]:
    """Kernels that the built modules contain; all names if that cannot be determined.

    A header has kernels that this op never launches: a breakpoint there would never be reached.
    """
    tool = find_tool("nm")
    if tool is None:
        return list(names)
    present = {
        plain_name(line.split(maxsplit=2)[2]).partition("<")[0]
        for module in modules
        for line in ask([tool, "-C", "--defined-only", module]).output.splitlines()
        if len(line.split(maxsplit=2)) == 3
    }
    return [name for name in names if name in present] or list(names)


def chosen(names: Sequence[str], wanted: str) -> list[str]:
    """Kernels with this name, in full or after a `::`; else kernels whose name contains it."""
    if not wanted:
        return list(names)
    exact = [name for name in names if f"::{name}".endswith(f"::{wanted}")]
    matching = exact or [name for name in names if wanted.lower() in name.lower()]
    if not matching:
        known = ", ".join(names) or "none"
        raise UsageError(f"there is no kernel {wanted!r}", f"there are {known}")
    return matching
