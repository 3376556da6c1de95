"""Reason for a build: the changes since the previous build, stored beside the build itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Any

from fictl import rooted
from fictl.errors import FictlError
from fictl.jit.cache.changes import Change, Wanted, changes, same_parameters
from fictl.jit.recipe import Recipe
from fictl.jit.store.entry import Entry, Manifest, Unusable
from fictl.jit.store.stores import stores
from fictl.paths import cache_root
from fictl.sealed import seal, unseal

CAUSE = "cause.json"
FIRST = "first build"
_NONE_LEFT = "no earlier build is left to compare with"
_UNKNOWN = "not known"
_FILES = ("source", "header")


@dataclass(frozen=True)
class BuildCause:
    """Reason for a build: in a few words, and in full if the previous build is known."""

    summary: str
    previous: Manifest | None = None
    changes: tuple[Change, ...] = ()

    @property
    def is_first(self) -> bool:
        """True if no previous build has the same parameters, device and variant."""
        return self.summary.startswith(FIRST)

    @property
    def known(self) -> bool:
        return not self.summary.startswith(_UNKNOWN)

    def to_dict(self) -> dict[str, Any]:
        return {
            "summary": self.summary,
            "since": self.previous.created if self.previous else None,
            "changes": [asdict(change) for change in self.changes],
        }


def nearest(project: str, module: str, recipe: Recipe, before: float | None = None) -> Entry | None:
    """Return the module's newest build; one with the recipe's parameters, variant, device first.

    `before` limits the search to older builds.
    """
    stored = [entry for store in stores() for entry in store.entries(project, module)]

    def likeness(entry: Entry) -> tuple[bool, bool, float]:
        manifest = entry.manifest
        same_kind = (manifest.variant, manifest.device) == (recipe.flags.variant, recipe.device)
        same = same_parameters(manifest.parameters, recipe.parameters)
        return same, same_kind, manifest.created

    older = (entry for entry in stored if before is None or entry.manifest.created < before)
    return max(older, key=likeness, default=None)


def cause_of_build(project: str, module: str, now: Wanted, built_before: bool) -> BuildCause:
    """Return why a build of `now` is needed, before it is published; without changed lines."""
    entry = nearest(project, module, now.recipe)
    if entry is None:
        return BuildCause(_NONE_LEFT if built_before else FIRST)
    with suppress(FictlError, OSError):
        differences = changes(entry.manifest, now, None)
        return BuildCause(summarize(differences, entry.manifest, now), entry.manifest)
    return BuildCause(f"{_UNKNOWN}: its sources cannot be read", entry.manifest)


def write_cause(folder: Path, cause: BuildCause) -> None:
    """Write the cause into a build's folder, with the manifest that it compares with."""
    previous = cause.previous.to_json() if cause.previous else None
    text = seal({"summary": cause.summary, "previous": previous})
    (folder / CAUSE).write_text(text, encoding="utf-8")


def cause_of(entry: Entry, recipe: Recipe) -> BuildCause:
    """Return why a stored build was made: from its record, else from the build before it."""
    manifest = entry.manifest
    now = Wanted(recipe, manifest.toolchain, entry.archs, manifest.cudart)
    try:
        recorded = _read(entry.path)
    except (OSError, ValueError, KeyError, TypeError, Unusable) as error:
        older = nearest(manifest.project, manifest.module, recipe, before=manifest.created)
        if older is None:
            return BuildCause(f"{_UNKNOWN}: {_no_record(error)}, and {_NONE_LEFT}")
        return _in_full(older.manifest, now)
    return _in_full(recorded.previous, now) if recorded.previous else recorded


def recorded_summary(entry: Entry) -> str:
    """Return the short reason stored with a build; empty if it cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError, Unusable):
        return _read(entry.path).summary
    return ""


def summarize(differences: Sequence[Change], then: Manifest, now: Wanted) -> str:
    """Summarize in a few words: `scale.cuh changed, flags changed`."""
    kinds = {change.kind for change in differences}
    if "parameter" in kinds:
        return f"{FIRST} with these parameters"
    if "device" in kinds:
        return f"{FIRST} for {now.recipe.device}"
    if "variant" in kinds:
        return f"{FIRST} of variant {now.recipe.flags.variant}"
    words = [*_files(differences)]
    words += [f"{kind} changed" for kind in ("flags", "compiler", "tvm-ffi") if kind in kinds]
    words += ["architectures added"] * ("architectures" in kinds)
    if not words and set(then.archs) != {str(arch) for arch in now.archs}:
        words = ["architectures changed"]
    if not words and then.recipe != now.recipe.key:
        words = ["its files lie in another folder"]
    return ", ".join(words) or "built again"


def _files(differences: Sequence[Change]) -> Iterable[str]:
    files = [change for change in differences if change.kind in _FILES]
    if len(files) == 1:
        verb = {"is new": "added", "is not part of it any more": "removed"}
        yield f"{_short(files[0])} {verb.get(files[0].how, 'changed')}"
    elif files:
        others = len(files) - 1
        yield f"{_short(files[0])} and {others} other file{'s' * (others > 1)} changed"


def _short(change: Change) -> str:
    """Name a change by the last part of its path: scale.cuh for `<fictl/elementwise/scale.cuh>`."""
    return PurePath(change.name.strip("<>")).name


def _in_full(previous: Manifest, now: Wanted) -> BuildCause:
    differences = tuple(changes(previous, now, cache_root()))
    return BuildCause(summarize(differences, previous, now), previous, differences)


def _read(folder: Path) -> BuildCause:
    record = unseal(rooted.read(folder / CAUSE))
    previous = record["previous"]
    return BuildCause(str(record["summary"]), Manifest.from_json(previous) if previous else None)


def _no_record(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "the build has no record of it"
    return f"the record {CAUSE} cannot be read"
