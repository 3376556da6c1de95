"""The verdict of `fictl cache explain`: hit or miss, and the changes since the build before."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.arch import Arch
from fictl.jit.cache.cause import BuildCause, cause_of, nearest
from fictl.jit.cache.changes import Change, Wanted, changes
from fictl.jit.lookup import Lookup, look_up
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.recipe import Recipe
from fictl.jit.reproducible import hides_paths
from fictl.jit.store.entry import Corrupt, Entry
from fictl.jit.store.stores import stores
from fictl.jit.store.this_platform import unfit
from fictl.paths import cache_root

# Aspects that are reported as unchanged if no change is of these kinds.
_ASPECTS = {
    "sources": ("source", "header"),
    "flags": ("flags", "variant", "parameter"),
    "compiler": ("compiler", "tvm-ffi"),
    "architectures": ("architectures",),
}


@dataclass(frozen=True)
class BuildVerdict:
    """Hit or miss. On a hit `entry` is the build found, and `cause` says why it was made.

    On a miss `entry` is the nearest build, with which `changes` compares.
    """

    project: str
    module: str
    parameters: dict[str, Any]
    recipe: str
    hit: bool
    why: str
    changes: tuple[Change, ...] = ()
    entry: Entry | None = None
    store: Path | None = None
    cause: BuildCause | None = None

    @property
    def unchanged(self) -> tuple[str, ...]:
        kinds = {change.kind for change in self.changes}
        return tuple(name for name, of in _ASPECTS.items() if not kinds.intersection(of))

    def to_dict(self) -> dict[str, Any]:
        built = self.entry.manifest if self.entry else None
        return {
            "project": self.project,
            "module": self.module,
            "parameters": {name: str(value) for name, value in self.parameters.items()},
            "recipe": self.recipe,
            "verdict": "hit" if self.hit else "miss",
            "why": self.why,
            "changes": [asdict(change) for change in self.changes],
            "unchanged": list(self.unchanged) if built and not self.hit else [],
            "build": str(self.entry.path) if self.entry else None,
            "built": built.created if built else None,
            "archs": list(built.archs) if built else [],
            "origin": built.origin if built else {},
            "store": str(self.store) if self.store else None,
            "cause": self.cause.to_dict() if self.cause else None,
        }


def explain(spec: ModuleSpec, archs: tuple[Arch, ...] = ()) -> BuildVerdict:
    """Return what `fictl build` would do for this spec now, and why; builds nothing."""
    lookup = look_up(spec, archs)
    known = (spec.project, spec.name, lookup.recipe.parameters, lookup.recipe.key)
    entry = lookup.entry
    if entry:
        cause = cause_of(entry, lookup.recipe)
        return BuildVerdict(*known, True, "", (), entry, _store_of(entry), cause)
    last = nearest(spec.project, spec.name, lookup.recipe)
    if last is None:
        return BuildVerdict(*known, False, _never(spec))
    differences = tuple(changes(last.manifest, _wanted(lookup), cache_root()))
    if lookup.locked:
        why, _ = lookup.locked.why()
    else:
        why = "" if differences else _moved(last, lookup.recipe) or _unfit(last)
    return BuildVerdict(*known, False, why, differences, last, _store_of(last))


def _wanted(lookup: Lookup) -> Wanted:
    """Return the inputs to compare; no compilers or architectures if nothing here can compile."""
    recipe, compilers, targets = lookup.recipe, lookup.compilers, lookup.targets
    if compilers is None or targets is None:
        return Wanted(recipe, {}, (), 0)
    identity = compilers.identity(recipe.libraries)
    return Wanted(recipe, identity, targets.archs, compilers.cudart)


def _never(spec: ModuleSpec) -> str:
    looked = ", ".join(str(store.root) for store in stores())
    return f"no store has a build of {spec.name} (looked in {looked})"


def _moved(entry: Entry, recipe: Recipe) -> str:
    """Say why a build of equal inputs has another key; '' if it has this one."""
    if entry.manifest.recipe == recipe.key:
        return ""
    if hides_paths(recipe.device, recipe.flags.variant):
        return "another version of fictl built it, whose names of folders in the code differ"
    variant = recipe.flags.variant
    return (
        f"{variant} builds hold the paths of their files, and these were built from another folder"
    )


def _unfit(entry: Entry) -> str:
    """Say why a build cannot be used although nothing changed."""
    try:
        entry.verify(everything=True)
    except Corrupt as error:
        return f"the build is corrupt: {error}"
    if reason := unfit(entry.manifest.platform):
        return f"the build cannot be loaded here: {reason}"
    return f"it was built for {' '.join(entry.manifest.archs)}, and no GPU here runs that"


def _store_of(entry: Entry) -> Path | None:
    return next((s.root for s in stores() if entry.path.is_relative_to(s.root)), None)
