"""compile_commands.json from the build plan: units and headers, with flags that clang accepts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fictl.arch import Arch
from fictl.errors import FictlError, SetupError
from fictl.jit.build import plan_build
from fictl.jit.compile import generate, prepare
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.plan import Plan, Unit
from fictl.jit.recipe import reached_by
from fictl.jit.spec import write_if_different
from fictl.jit.store.stores import writable_store
from fictl.jit.unit_command import compiler_and_flags
from fictl.toolchain import Nvcc, Toolchain, require_toolchain
from fictl.user_file import read_bytes

FILE = "compile_commands.json"

_AS_HEADER = ("-x", "c++-header")
_HOST_OPTIONS = ("-Xcompiler", "--compiler-options")
_WITH_VALUE = {
    "-I": "-I",
    "--include-path": "-I",
    "-isystem": "-isystem",
    "--system-include": "-isystem",
    "-D": "-D",
    "--define-macro": "-D",
    "-U": "-U",
    "--undefine-macro": "-U",
    "-include": "-include",
    "--pre-include": "-include",
}
_STANDARD = ("-std", "--std")
_KEPT = ("-I", "-D", "-U", "-O0", "-O1", "-O2", "-O3")


@dataclass(frozen=True)
class Command:
    """The command that compiles one file; paths in `argv` are relative to `directory`."""

    file: Path
    directory: Path
    argv: tuple[str, ...]
    header: bool

    def to_dict(self) -> dict[str, Any]:
        return {
            "directory": str(self.directory),
            "file": str(self.file),
            "arguments": list(self.argv),
        }


@dataclass(frozen=True)
class Database:
    """The commands by file, the plans that write included files, and the errors of failed specs."""

    commands: tuple[Command, ...]
    writing: tuple[Plan, ...]
    errors: tuple[FictlError, ...]

    @property
    def text(self) -> str:
        return json.dumps([command.to_dict() for command in self.commands], indent=1) + "\n"

    def write(self, path: Path) -> bool:
        """Write generated includes to the cache, then the file; return True if anything changed."""
        if self.writing:
            store = writable_store()
        for plan in self.writing:
            store.ensure_private(plan.spec.project, plan.spec.name)
            prepare(plan, _folder(plan))
            generate(plan, _folder(plan))
        try:
            before = read_bytes(path) if os.path.isfile(path) else None
            write_if_different(path, self.text)
        except OSError as error:
            raise SetupError(
                f"cannot write {path}: {error.strerror}", "--out takes another file or folder"
            ) from error
        return before != self.text.encode()


def database(specs: Iterable[ModuleSpec], archs: tuple[Arch, ...] = ()) -> Database:
    """Return one command per file, even if several specs compile it; failing specs are left out."""
    toolchain = require_toolchain()
    plans, errors = [], []
    for spec in specs:
        try:
            plans.append(plan_build(spec, archs))
        except FictlError as error:
            errors.append(error)
    # The newest architecture first: its #if conditions hide the least of a header.
    plans.sort(key=lambda plan: plan.targets.archs[-1], reverse=True)
    by_file: dict[Path, Command] = {}
    for command in (*_units(plans, toolchain), *_headers(plans, toolchain)):
        by_file.setdefault(command.file, command)
    commands = tuple(by_file[path] for path in sorted(by_file))
    return Database(commands, _distinct(plans), tuple(errors))


def clang_flags(words: Sequence[str]) -> list[str]:
    """Keep the nvcc flags that decide what the code means, as clang spells them."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _HOST_OPTIONS:
            kept += clang_flags((value if equals else next(rest, "")).split(","))
        elif name in _WITH_VALUE:
            kept += [_WITH_VALUE[name], value if equals else next(rest, "")]
        elif name in _STANDARD:
            kept.append(f"-std={value if equals else next(rest, '')}")
        elif word.startswith(_KEPT):
            kept.append(word)
    return kept


def _units(plans: Iterable[Plan], toolchain: Toolchain) -> Iterator[Command]:
    for plan in plans:
        for unit in plan.units:
            argv = (*_argv(plan, unit, toolchain), "-c", str(unit.source))
            yield Command(unit.source, _directory(plan), argv, header=False)


def _headers(plans: Iterable[Plan], toolchain: Toolchain) -> Iterator[Command]:
    """Yield commands of headers: C++ if a host unit includes it, unless .cuh; otherwise CUDA."""
    pairs = [(plan, unit) for plan in plans for unit in plan.units]
    for device in (False, True):
        for plan, unit in (pair for pair in pairs if pair[1].device is device):
            front = _argv(plan, unit, toolchain)
            for path in _reached(plan.spec, unit):
                if device or path.suffix != ".cuh":
                    language = () if device else _AS_HEADER
                    argv = (*front, *language, "-c", str(path))
                    yield Command(path, _directory(plan), argv, header=True)


def _argv(plan: Plan, unit: Unit, toolchain: Toolchain) -> tuple[str, ...]:
    words = compiler_and_flags(unit, toolchain)
    if not unit.device:
        return words
    cuda = _cuda(toolchain.nvcc, plan.targets.archs[-1])
    return ("clang++", "-x", "cuda", *cuda, *clang_flags(words[1:]))


def _cuda(nvcc: Nvcc, arch: Arch) -> tuple[str, ...]:
    major, minor = nvcc.version
    # clang lacks family targets; the target of one GPU has every feature of its family's.
    target = replace(arch, suffix="a" if arch.suffix else "")
    return (
        *_cuda_path(nvcc),
        f"--cuda-gpu-arch=sm_{target.number}",
        "--no-cuda-version-check",
        "-Wno-unknown-cuda-version",
        f"-D__CUDACC_VER_MAJOR__={major}",
        f"-D__CUDACC_VER_MINOR__={minor}",
    )


def _cuda_path(nvcc: Nvcc) -> tuple[str, ...]:
    """Return --cuda-path; none for a distribution's toolkit, which clang finds itself."""
    parts = ("bin", "include", "nvvm/libdevice")
    complete = all(os.path.isdir(nvcc.home / part) for part in parts)
    return (f"--cuda-path={nvcc.home}",) if complete else ()


def _reached(spec: ModuleSpec, unit: Unit) -> Iterator[Path]:
    files = reached_by(spec, unit.source).files.values()
    return (path for path in files if path != unit.source)


def _distinct(plans: Iterable[Plan]) -> tuple[Plan, ...]:
    """Keep the first of the plans that share a folder: its commands were used."""
    return tuple({_folder(p): p for p in reversed(list(plans)) if p.spec.made_from}.values())


def _directory(plan: Plan) -> Path:
    return _folder(plan) if plan.spec.made_from else plan.spec.base.absolute()


def _folder(plan: Plan) -> Path:
    """Return the folder of -Isrc: stable across edits, one for each launcher of a module."""
    spec = plan.spec
    return writable_store().module_dir(spec.project, spec.name) / "ninja" / spec.sources[0].stem
