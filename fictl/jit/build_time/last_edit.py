"""The cost of a module's last edit, from the newest two builds that differ in their inputs."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.jit.store.entry import MODULE, Entry, Manifest
from fictl.jit.store.stores import writable_store


@dataclass(frozen=True)
class LastEdit:
    """The changed files; seconds of each recompiled unit, of the link and of the whole build."""

    when: float
    changed: tuple[str, ...]
    units: dict[str, float]
    link: float
    seconds: float


def last_edit(of: Entry) -> LastEdit | None:
    """Return the cost of the last edit; None if all builds have the same sources."""
    now = of.manifest
    entries = writable_store().entries(now.project, now.module)
    alike = [entry.manifest for entry in entries if _kind(entry.manifest) == _kind(now)]
    newest = next(iter(alike), None)
    before = next(
        (manifest for manifest in alike[1:] if newest and manifest.inputs != newest.inputs), None
    )
    if newest is None or before is None:
        return None
    units = {name: seconds for name, seconds in newest.units.items() if name != MODULE}
    return LastEdit(
        newest.created,
        _changed(before.inputs, newest.inputs),
        units,
        newest.units.get(MODULE, 0.0),
        newest.seconds,
    )


def _kind(manifest: Manifest) -> tuple[object, ...]:
    """Return all that identifies a build except the text of its sources."""
    return (manifest.device, manifest.variant, manifest.archs, manifest.parameters)


def _changed(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in {*before, *after} if before.get(name) != after.get(name)))
