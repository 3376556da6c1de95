"""Rules for includes: no bindings in the library, no tvm in nvcc, heavy ones declared."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from fictl.paths import files_below, matching
from fictl.project.check.problem import Problem
from fictl.project.cpp_source import CppSource, Include, reach, read_cpp
from fictl.project.folder import OpFolder
from fictl.project.project import Project
from fictl.project.python_source import parse

_FRAMEWORKS = ("torch", "ATen", "c10", "tvm", "dlpack", "binding")
_HEAVY = ("cub/", "thrust/", "cooperative_groups", "cuda/", "cute/", "cutlass/")
_CPP = (".cu", ".cuh", ".cpp", ".h", ".hpp", ".inc")


def headers_are_pure(folder: OpFolder) -> Iterator[Problem]:
    return _pure(folder.headers)


def library_is_pure(project: Project) -> Iterator[Problem]:
    return _pure(path for path in files_below(project.include) if path.suffix in _CPP)


def _pure(paths: Iterable[Path]) -> Iterator[Problem]:
    for path in paths:
        for include in read_cpp(path).includes:
            if _top(include) in _FRAMEWORKS:
                yield Problem(
                    "pure",
                    path,
                    include.line,
                    f"the library includes {include.operand}",
                    "raw pointers and cudaError_t here; frameworks in launcher.cu and binding.cpp",
                )


def heavy_headers_are_declared(folder: OpFolder) -> Iterator[Problem]:
    """Require declarations of headers that slow each build (cub 2.9 s, cute 5.2, CUTLASS 11.6)."""
    allowed = _heavy_headers(folder.jit)
    sources = reach((*folder.launchers, *folder.headers), folder.project.include_dirs)
    for source in sources:
        for include in source.includes:
            if include.name.startswith(_HEAVY) and not include.name.startswith(allowed):
                yield Problem(
                    "heavy",
                    source.path,
                    include.line,
                    f"{folder} includes {include.operand}",
                    f"use <fictl/device/…>, or say heavy_headers=({include.name!r},) in jit.py",
                )


def _heavy_headers(jit: Path) -> tuple[str, ...]:
    """Return the literal that jit.py assigns to or passes as `heavy_headers`."""
    for node in ast.walk(parse(jit)) if os.path.isfile(jit) else ():
        named = (
            [node.arg]
            if isinstance(node, ast.keyword)
            else [getattr(target, "id", "") for target in getattr(node, "targets", ())]
        )
        if "heavy_headers" in named:
            return tuple(_texts(node))
    return ()


def _texts(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def tvm_stays_in_the_binding(folder: OpFolder) -> Iterator[Problem]:
    for source in _own(folder):
        for include in source.includes:
            ffi = include.name.endswith("binding/ffi.h") or _top(include) == "tvm"
            if ffi and source.path != folder.binding:
                yield Problem(
                    "tvm",
                    source.path,
                    include.line,
                    f"{include.operand} in {source.path.name}",
                    "only binding.cpp does: tvm/ffi costs nvcc two seconds a file",
                )


def includes_are_plain(folder: OpFolder) -> Iterator[Problem]:
    for source in (*_own(folder), *map(read_cpp, folder.headers)):
        for include in source.includes:
            if not include.name:
                yield Problem(
                    "computed-include",
                    source.path,
                    include.line,
                    f"#include {include.operand}",
                    "name the file: a computed include escapes the build's content hash",
                )


def launches_go_through_the_library(folder: OpFolder) -> Iterator[Problem]:
    """Refuse <<<…>>> in shipped ops: launch.cuh has PDL, clusters, shared-memory opt-in."""
    if folder.project.is_shipped:
        for source in (*_own(folder), *map(read_cpp, folder.headers)):
            for line in source.launches:
                yield Problem(
                    "launch", source.path, line, "a <<<…>>> launch", "use <fictl/device/launch.cuh>"
                )


def _own(folder: OpFolder) -> tuple[CppSource, ...]:
    return tuple(read_cpp(p) for p in matching(folder.path, "*") if p.suffix in _CPP)


def _top(include: Include) -> str:
    parts = [part for part in include.name.split("/") if part not in ("..", ".")]
    return parts[0] if parts else ""
