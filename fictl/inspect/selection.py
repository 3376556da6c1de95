"""What a command line asks about: ops, or files in the place of ops; and which kernels of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fictl.arch import Arch
from fictl.builds.building import specs_of
from fictl.errors import UsageError
from fictl.inspect.binary import inspect_file
from fictl.inspect.inspected import Inspected
from fictl.inspect.run import inspect_specs
from fictl.jit import JitSpec, gen_jit_spec
from fictl.jit.progress import BuildObserver
from fictl.project import Project, select

_COMPILED = (".cubin", ".so")
_SOURCE = ".cu"


def inspect(
    names: Sequence[str], archs: tuple[Arch, ...], observer: BuildObserver
) -> list[Inspected]:
    """Ops, those of the project here without names, and files, in the order of the names."""
    words = [name for name in names if not _is_file(name)]
    specs = specs_of(words) if words or not names else []
    found = inspect_specs(specs, archs, observer)
    for name in filter(_is_file, names):
        path = Path(name)
        if path.suffix == _SOURCE:
            found += inspect_specs([_spec_of(path)], archs, observer)
        else:
            found.append(_for_archs(inspect_file(path), archs))
    return found


def inspect_revision(
    names: Sequence[str], revision: str, archs: tuple[Arch, ...], observer: BuildObserver
) -> tuple[str, list[Inspected]]:
    """The same ops as they were, and what to call that."""
    # Why here: they load what measures, which takes longer than a cached answer.
    from fictl.project.revision import checkout, project_of

    files = [name for name in names if _is_file(name)]
    if files:
        raise UsageError(
            f"--against is for ops, and {files[0]} is a file", "name an op of a git repository"
        )
    project = project_of(names)
    words = [name.removeprefix(f"{project.name}/") for name in names]
    with checkout(project, revision) as old:
        specs = [spec for folder in select(words, [old.project]) for spec in folder.specs()]
        return old.label, [_as_kept(one) for one in inspect_specs(specs, archs, observer)]


def only(found: Iterable[Inspected], pattern: str) -> list[Inspected]:
    """The kernels whose readable name has this pattern in it; an error if none has."""
    found = list(found)
    if not pattern:
        return found
    try:
        wanted = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--kernel {pattern!r} is no regular expression: {error}") from error
    kept = [one.only(tuple(k for k in one.kernels if wanted.search(k.name))) for one in found]
    if not any(one.kernels for one in kept) and not any(one.error for one in found):
        names = dict.fromkeys(kernel.name for one in found for kernel in one.kernels)
        raise UsageError(
            f"no kernel's name has {pattern!r} in it",
            f"there are {', '.join(names)}" if names else "there is no kernel at all",
        )
    return [one for one in kept if one.kernels or one.error]


def _is_file(name: str) -> bool:
    return name.endswith((*_COMPILED, _SOURCE))


def _spec_of(path: Path) -> JitSpec:
    """A module of its own, in the cache under the name of the file."""
    spec = gen_jit_spec(path.stem, [path], extra_include_paths=[path.absolute().parent])
    return replace(spec, device="cuda", fallback_archs=Project.at().archs)


def _for_archs(found: Inspected, archs: tuple[Arch, ...]) -> Inspected:
    if not archs:
        return found
    wanted = set(map(str, archs))
    kernels = tuple(kernel for kernel in found.kernels if kernel.arch in wanted)
    if found.kernels and not kernels:
        raise UsageError(
            f"{found.module} has no code for {', '.join(sorted(wanted))}",
            f"it has some for {', '.join(found.archs)}",
        )
    return found.only(kernels)


def _as_kept(one: Inspected) -> Inspected:
    """Its sources are gone when this is shown."""
    return replace(one, sources=None)
