"""Selection of a command line: ops, or files in place of ops, and kernels by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fictl.arch import Arch
from fictl.builds.building import specs_of
from fictl.builds.for_archs import for_archs
from fictl.errors import UsageError
from fictl.inspect.binary import inspect_file
from fictl.inspect.inspected import Inspected
from fictl.inspect.modules import inspect_specs
from fictl.jit import JitSpec, gen_jit_spec
from fictl.jit.progress import BuildObserver
from fictl.op.folder_specs import folder_specs
from fictl.project import Project, select

_COMPILED = (".cubin", ".so")
_SOURCE = ".cu"


def inspect(
    names: Sequence[str], archs: tuple[Arch, ...], observer: BuildObserver
) -> list[Inspected]:
    """Inspect ops and files; without names, all ops of this project."""
    words = [name for name in names if not _is_file(name)]
    specs = specs_of(words) if words or not names else []
    specs = for_archs([replace(spec, device="cuda") for spec in specs], archs, observer.note)
    inspected = inspect_specs(specs, archs, observer)
    for name in filter(_is_file, names):
        path = Path(name)
        if path.suffix == _SOURCE:
            inspected += inspect_specs([_spec_of(path)], archs, observer)
        else:
            inspected.append(_for_archs(inspect_file(path), archs))
    return inspected


def inspect_revision(
    names: Sequence[str], revision: str, archs: tuple[Arch, ...], observer: BuildObserver
) -> tuple[str, list[Inspected]]:
    """Inspect the same ops at a revision; returns its label, too."""
    # Imported here, as it takes longer than a cached answer.
    from fictl.project.revision import checkout, project_of

    files = [name for name in names if _is_file(name)]
    if files:
        raise UsageError(
            f"--against is for ops, and {files[0]} is a file", "name an op of a git repository"
        )
    project = project_of(names)
    words = [name.removeprefix(f"{project.name}/") for name in names]
    with checkout(project, revision) as old:
        specs = [spec for folder in select(words, [old.project]) for spec in folder_specs(folder)]
        return old.label, [_as_kept(one) for one in inspect_specs(specs, archs, observer)]


def only(modules: Iterable[Inspected], pattern: str) -> list[Inspected]:
    """Select the kernels whose readable name matches the pattern; an error if none does."""
    modules = list(modules)
    if not pattern:
        return modules
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--kernel {pattern!r} is not a regular expression: {error}") from error
    kept = [one.only(tuple(k for k in one.kernels if wanted.search(k.name))) for one in modules]
    if not any(one.kernels for one in kept) and not any(one.error for one in modules):
        names = dict.fromkeys(kernel.name for one in modules for kernel in one.kernels)
        raise UsageError(
            f"no kernel's name has {pattern!r} in it",
            f"there are {', '.join(names)}" if names else "there is no kernel at all",
        )
    return [one for one in kept if one.kernels or one.error]


def _is_file(name: str) -> bool:
    return name.endswith((*_COMPILED, _SOURCE))


def _spec_of(path: Path) -> JitSpec:
    """Spec of a module made of this file alone, named after it."""
    spec = gen_jit_spec(path.stem, [path], extra_include_paths=[path.absolute().parent])
    return replace(spec, device="cuda", fallback_archs=Project.at().archs)


def _for_archs(inspected: Inspected, archs: tuple[Arch, ...]) -> Inspected:
    if not archs:
        return inspected
    wanted = set(map(str, archs))
    kernels = tuple(kernel for kernel in inspected.kernels if kernel.arch in wanted)
    if inspected.kernels and not kernels:
        raise UsageError(
            f"{inspected.module} has no code for {', '.join(sorted(wanted))}",
            f"it has some for {', '.join(inspected.archs)}",
        )
    return inspected.only(kernels)


def _as_kept(one: Inspected) -> Inspected:
    """Drop the sources, which are deleted before the result is shown."""
    return replace(one, sources=None)
