"""A folder that Hugging Face's `kernels` package loads, from an op."""

from __future__ import annotations

import ast
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl import rooted
from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.jit.progress import BuildObserver
from fictl.paths import matching, write_atomic
from fictl.project import OpFolder
from fictl.ship.hf_kernel import metadata as meta
from fictl.ship.hf_kernel import python_files as python
from fictl.ship.hf_kernel import readme
from fictl.ship.hf_kernel.compiled import compiled, specs_to_export, stems
from fictl.ship.hf_kernel.own_layers import own_layers
from fictl.ship.hf_kernel.raw_function import RawFunction, raw_functions
from fictl.user_file import read_text

_BUILDS = "build"


@dataclass(frozen=True)
class ExportRequest:
    """An op, and what its kernel is to be called."""

    folder: OpFolder
    target: Path
    name: str
    licence: str
    version: int = 1
    archs: tuple[Arch, ...] = ()


@dataclass(frozen=True)
class Exported:
    """`variant` is the folder of the build; `files` are relative to it; `note` is a warning."""

    target: Path
    name: str
    variant: str
    functions: tuple[RawFunction, ...]
    left_out: tuple[str, ...]
    files: tuple[str, ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "root": str(self.target),
            "name": self.name,
            "variant": self.variant,
            "functions": [function.signature for function in self.functions],
            "left_out": [*self.left_out],
            "files": [*self.files],
            "note": self.note,
        }


def export(request: ExportRequest, observer: BuildObserver | None = None) -> Exported:
    """Build the op and write the folder; without an observer, only check and tell what would be."""
    meta.kernel_name(request.name)
    _require_own(request.target, request.name)
    functions, left_out = raw_functions(request.folder)
    specs = specs_to_export(request.folder, request.archs)
    layers = own_layers(request.folder)
    title = f"Compiled functions of {request.folder}; README.md describes them."
    texts = _texts(stems(specs), functions, layers, title)
    if observer is None:
        compiled_names = (f"{stem}.so" for stem in stems(specs))
        names = tuple(sorted([*texts, python.LOADER, meta.FILE, *compiled_names]))
        return Exported(request.target, request.name, "", functions, left_out, names)
    modules = compiled(specs, request.archs, observer)
    runtime = next((name for name in modules.files if name.startswith("lib")), "")
    files = {name: text.encode() for name, text in texts.items()}
    files |= {python.LOADER: python.loader([*modules.entries], runtime).encode(), **modules.files}
    document = meta.metadata(request.name, request.version, request.licence, modules.backend, files)
    _write_variant(request.target, modules.variant, {**files, meta.FILE: document.encode()})
    _write_card(request, functions, [*modules.entries], layers, left_out)
    platform = modules.platform
    note = readme.too_new(platform.floor("glibc"), platform.floor("glibcxx"))
    return Exported(
        request.target,
        request.name,
        modules.variant,
        functions,
        left_out,
        tuple(sorted([*files, meta.FILE])),
        f"this build needs {note}" if note else "",
    )


def _texts(
    names: list[str], functions: tuple[RawFunction, ...], layers: str, title: str
) -> dict[str, str]:
    texts = {python.FUNCTIONS: python.package(title, names, functions, bool(layers))}
    if len(names) > 1:
        texts |= {f"{name}.py": python.module_file(name, functions) for name in names}
    if layers:
        texts[python.LAYERS] = layers
    return texts


def _require_own(target: Path, name: str) -> None:
    """Refuse a folder that holds anything but builds of this kernel, which are added to."""
    if not os.path.lexists(target):
        return
    strange = [path.name for path in _entries(target) if path.name not in (_BUILDS, readme.FILE)]
    builds = _entries(target / _BUILDS)
    others = (build.name for build in builds if _name_in(build / meta.FILE) != name)
    strange += (f"{_BUILDS}/{build}" for build in others)
    if strange:
        raise UsageError(
            f"{target} holds {', '.join(sorted(strange)[:5])}, which no export of {name} wrote",
            "name a folder that is empty, or not there yet",
        )


def _entries(folder: Path) -> list[Path]:
    if os.path.islink(folder) or (os.path.lexists(folder) and not os.path.isdir(folder)):
        raise UsageError(f"{folder} is not a folder", "name another one")
    # Names with a dot first are what a killed export left.
    return matching(folder, "*") if os.path.isdir(folder) else []


def _name_in(path: Path) -> str:
    if os.path.islink(path.parent):
        return ""
    try:
        return str(json.loads(read_text(path))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _write_variant(target: Path, variant: str, files: Mapping[str, bytes]) -> None:
    """Write all files, or none: an earlier build of this variant stays until the new one is whole."""
    builds = target / _BUILDS
    builds.mkdir(parents=True, exist_ok=True)
    staging = builds / f".{secrets.token_hex(8)}"
    staging.mkdir()
    try:
        for name, data in files.items():
            (staging / name).write_bytes(data)
        if os.path.lexists(builds / variant):
            rooted.remove(target, builds / variant)
        os.rename(staging, builds / variant)
    except BaseException:
        with suppress(OSError):
            rooted.remove(target, staging)
        raise


def _write_card(
    request: ExportRequest,
    functions: tuple[RawFunction, ...],
    names: list[str],
    layers: str,
    left_out: tuple[str, ...],
) -> None:
    variants = sorted(path.name for path in _entries(request.target / _BUILDS))
    card = readme.Card(
        request.name,
        request.licence,
        str(request.folder),
        functions,
        names,
        [*_classes(layers)],
        left_out,
        variants,
    )
    write_atomic(request.target / readme.FILE, card.text())


def _classes(text: str) -> Iterator[str]:
    yield from (node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
