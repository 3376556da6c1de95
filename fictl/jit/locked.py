"""A lock file in force: which builds of a module may be loaded, and why none is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.errors import UsageError
from fictl.jit.lock_file import FILE, LockedModule, nearest, read_lock
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.recipe import Recipe
from fictl.jit.store.entry import MODULE, Manifest


@dataclass(frozen=True)
class Locked:
    """The builds that a lock file allows of one module; their hashes decide, not their compilers."""

    path: Path
    name: str
    recipe: str
    pinned: tuple[LockedModule, ...]

    @property
    def hashes(self) -> frozenset[str]:
        """Return the allowed hashes of the module's file, for the current recipe."""
        return frozenset(
            build.sha256
            for module in self.pinned
            if module.recipe == self.recipe
            for build in module.builds
        )

    def allows(self, manifest: Manifest) -> bool:
        stamp = manifest.files.get(MODULE)
        return stamp is not None and stamp.sha256 in self.hashes

    def why(self) -> tuple[str, str]:
        """Return the message and the hint for a module of which no allowed build is at hand."""
        if self.hashes:
            return (
                f"{self.name} is locked by {self.path}, and no store has a build of recipe "
                f"{self.recipe} that it names and that fits this machine",
                "fictl artifacts pull brings them",
            )
        known = ", ".join(sorted({module.recipe for module in self.pinned}))
        return (
            f"{self.name} is locked by {self.path} as recipe {known}; its sources and flags now "
            f"make recipe {self.recipe}",
            "fictl artifacts build NAME, then fictl artifacts lock; or undo the change",
        )


def locked(spec: ModuleSpec, recipe: Recipe) -> Locked | None:
    """Return what the lock in force allows of a module; None if it does not name the module."""
    asked = settings.LOCKED.get()
    if not asked and not settings.DISABLE_JIT.get():
        return None
    path = nearest(*_folders(spec))
    if path is None:
        if asked:
            raise _no_lock(settings.LOCKED.origin().place)
        return None
    name = f"{spec.project}/{spec.name}"
    pinned = read_lock(path).recipes(name, recipe.device)
    return Locked(path, name, recipe.key, pinned) if pinned else None


def _folders(spec: ModuleSpec) -> list[Path]:
    """Return where a lock is looked for: the working folder, then the module's own project."""
    try:
        here = [Path.cwd()]
    except OSError:  # It was removed.
        here = []
    return [*here, spec.base.absolute()]


def _no_lock(place: str) -> UsageError:
    return UsageError(
        f"{place} asks for a {FILE}, and there is none in or above the working folder",
        f"fictl artifacts lock writes it; or leave {place} out",
    )
