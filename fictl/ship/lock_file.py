"""Lock files: written from a snapshot, and compared with the sources of a project."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fictl.arch import Arch, unique
from fictl.builds.building import specs_of
from fictl.builds.for_archs import for_archs
from fictl.errors import UsageError
from fictl.jit.emulated_runtime import runtime_spec
from fictl.jit.lock_file import FILE, SCHEMA, LockedModule, LockFile, nearest, read_lock
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.recipe import recipe_of
from fictl.jit.store.entry import MODULE, FileStamp
from fictl.project import Project
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.names import split
from fictl.ship.artifacts.signed import Signed
from fictl.ship.artifacts.snapshot import Snapshot
from fictl.user_file import write_text

_HEAD = (
    "# fictl.lock: written by `fictl artifacts lock`; in force with --locked or FICTL_DISABLE_JIT"
)


@dataclass(frozen=True)
class Drift:
    """A module whose sources and whose lock differ."""

    name: str
    recipe: str
    problem: str


def lock_path() -> Path:
    """Return the lock file of the project here: the nearest one, else where a new one belongs."""
    here = Path.cwd()
    project = Project.at()
    root = here if project.is_shipped else project.root
    return nearest(here) or root / FILE


def lock_text(snapshot: Snapshot) -> str:
    """Return the text of the lock file that pins a snapshot."""
    modules: dict[tuple[str, str, str], list[str]] = {}
    for document in snapshot.documents:
        it = document.manifest
        modules.setdefault((f"{it.project}/{it.module}", it.device, it.recipe), []).append(
            _build(document.manifest.build, it.platform, it.archs, it.files[MODULE])
        )
    head = f'{_HEAD}\nschema = "{SCHEMA}"\n\n[snapshot]\nname = "{snapshot.name}"\n'
    return f'{head}sha256 = "{snapshot.sha256}"\n' + "".join(
        f'\n[[module]]\nname = "{name}"\ndevice = "{device}"\nrecipe = "{recipe}"\n'
        f"builds = [\n{''.join(builds)}]\n"
        for (name, device, recipe), builds in sorted(modules.items())
    )


def write_lock(path: Path, snapshot: Snapshot, dry_run: bool = False) -> bool:
    """Write the lock file, but not in a dry run; return False if it has this text already."""
    text = lock_text(snapshot)
    if os.path.isfile(path) and path.read_text(encoding="utf-8", errors="replace") == text:
        return False
    if not dry_run:
        write_text("--out", path, text)
    return True


def drifts(lock: LockFile, ops: Sequence[str]) -> list[Drift]:
    """Compare a lock with the sources of the named ops, or of this project's; compiles nothing."""
    drifted: list[Drift] = []
    current: set[tuple[str, str]] = set()
    for spec in _specs(lock, ops):
        name, recipe = f"{spec.project}/{spec.name}", recipe_of(spec).key
        current.add((name, recipe))
        pinned = lock.recipes(name, spec.runs_on)
        if not pinned:
            drifted.append(Drift(name, recipe, "it is not in the lock"))
        elif recipe not in {module.recipe for module in pinned}:
            locked = " ".join(sorted(module.recipe for module in pinned))
            drifted.append(Drift(name, recipe, f"its sources have changed since recipe {locked}"))
    if not ops:
        drifted += _left(lock, current)
    return drifted


def _left(lock: LockFile, current: set[tuple[str, str]]) -> Iterator[Drift]:
    """Yield what is locked of the projects at hand and is not built from their sources any more."""
    projects = {name.partition("/")[0] for name, _ in current}
    names = {name for name, _ in current}
    for module in lock.modules:
        if module.name.partition("/")[0] in projects and module.name not in names:
            yield Drift(module.name, module.recipe, "the project does not have it any more")


def _specs(lock: LockFile, ops: Sequence[str]) -> Iterator[ModuleSpec]:
    """Yield the specs of the ops on each device of the lock, for its architectures."""
    devices = {module.device for module in lock.modules}
    specs = specs_of(ops)
    if "cuda" in devices or not devices:
        aimed = [replace(spec, device="cuda") for spec in specs]
        yield from for_archs(aimed, _archs(lock.modules))
    if "emu" in devices:
        yield from (replace(spec, device="emu") for spec in specs if "emu" in spec.devices)
        yield runtime_spec()


def _archs(modules: Iterable[LockedModule]) -> tuple[Arch, ...]:
    return unique(
        Arch.parse(arch)
        for module in modules
        if module.device == "cuda"
        for build in module.builds
        for arch in build.archs
    )


def _build(build: str, platform: str, archs: Sequence[str], stamp: FileStamp) -> str:
    return (
        f"    {{ build = {_quoted(build)}, platform = {_quoted(platform)}, "
        f"archs = [{', '.join(map(_quoted, archs))}], sha256 = {_quoted(stamp.sha256)}, "
        f"size = {stamp.size} }},\n"
    )


def _quoted(text: str) -> str:
    """Write a TOML string, whatever a document of others has in it."""
    return json.dumps(text)


def pinned(name: str) -> tuple[str, str]:
    """Return the name and the hash that a user means; without a name those of the lock file."""
    if name:
        return split(name)
    path = lock_path()
    if not os.path.lexists(path):
        raise UsageError(
            f"no snapshot is named, and there is no {FILE} that names one",
            "fictl artifacts pull NAME; fictl artifacts list URL shows them",
        )
    pin = read_lock(path).snapshot
    return pin.name, pin.sha256


def locked_by(name: str, path: Path, root: Path | None) -> Signed:
    """Return the trusted snapshot to pin: the named one, else the newest of the lock's own name."""
    folder = ArtifactsFolder.at(root)
    if name:
        wanted, sha256 = split(name)
    else:
        wanted, sha256 = _usual(path, folder), ""
    return folder.require(wanted, sha256)


def _usual(path: Path, folder: ArtifactsFolder) -> str:
    if os.path.lexists(path):
        return read_lock(path).snapshot.name
    names = sorted({signed.snapshot.name for signed in folder.snapshots()})
    if len(names) != 1:
        known = f"{folder.root} has {', '.join(names) or 'none'}"
        raise UsageError("no snapshot is named", f"fictl artifacts lock NAME; {known}")
    return names[0]
