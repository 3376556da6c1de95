"""Builds that another place made, taken into the cache of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fictl.builds.building import BuiltModule
from fictl.errors import FictlError
from fictl.farm.spread.command_job import CommandResult
from fictl.farm.spread.readable import readable
from fictl.farm.tree import unpack
from fictl.jit.store.entry import MANIFEST, Corrupt, Entry, FileStamp
from fictl.jit.store.staging import publish, staging_folder
from fictl.jit.store.stores import writable_store
from fictl.jit.store.writing import writing

_PART = re.compile(r"(?!\.)[\w.+-]{1,200}")
_KNOWN = (
    *("project", "module", "archs", "beyond", "origin", "compiled", "seconds", "recipe"),
    *("build", "why", "title"),
)
_TEXTS = ("project", "module", "origin", "recipe", "build", "why", "title")


@dataclass(frozen=True)
class PlacedBuild:
    """A module, and the place that built it."""

    module: BuiltModule
    place: str

    def to_dict(self) -> dict[str, Any]:
        return {**self.module.to_dict(), "place": self.place or None}


def collected(results: Sequence[CommandResult]) -> list[PlacedBuild]:
    """Publish what came back; a module that cannot be trusted, or failed, has its error."""
    return [built for result in results for built in _of(result)]


def _of(result: CommandResult) -> list[PlacedBuild]:
    if result.data is None and result.error:
        return [_failed(result, result.error)]
    try:
        with readable(result):
            if not isinstance(result.data, list):
                raise TypeError("it is not a list of builds")
            return [PlacedBuild(_module(data, result), result.place) for data in result.data]
    except FictlError as error:
        return [_failed(result, error)]


def _failed(result: CommandResult, error: FictlError) -> PlacedBuild:
    project, _, module = result.job.name.partition("/")
    title = f"{module.replace('/', '.')} at {result.place}"
    failed = BuiltModule(project, module.replace("/", "."), error=error, title=title)
    return PlacedBuild(failed, result.place)


def _module(data: Mapping[str, Any], result: CommandResult) -> BuiltModule:
    module = _described(data)
    error = data.get("error")
    if error:
        return replace(module, error=FictlError(str(error["message"]), str(error["hint"] or "")))
    packed = result.kept.get(str(data.get("path")))
    if packed is None:
        error = FictlError(f"{module.module}: {result.place} did not send its files")
        return replace(module, error=error)
    try:
        return replace(module, path=str(_published(packed, module).path))
    except FictlError as problem:
        return replace(module, error=problem)
    finally:
        packed.unlink(missing_ok=True)


def _described(data: Mapping[str, Any]) -> BuiltModule:
    fields = {name: data[name] for name in _KNOWN if name in data}
    for name in ("archs", "beyond"):
        fields[name] = tuple(map(str, fields.get(name, ())))
    module = BuiltModule(**{**fields, "seconds": float(fields.get("seconds", 0.0))})
    if not all(isinstance(getattr(module, name), str) for name in _TEXTS):
        raise TypeError(f"one of {', '.join(_TEXTS)} is not text")
    return module


def _published(packed: Path, module: BuiltModule) -> Entry:
    """Stage the files, check every byte against the manifest, and publish them."""
    for part in (module.project, module.module, module.recipe, module.build):
        if not _PART.fullmatch(part):
            raise FictlError(f"{part[:80]!r} is not a name of a build")
    store = writable_store()
    store.ensure_private(module.project, module.module)
    module_dir = store.module_dir(module.project, module.module)
    with staging_folder(module_dir) as staging, writing(module_dir):
        unpack(packed, staging)
        try:
            entry = _stamped(Entry.read(staging))
            entry.verify(everything=True)
        except Corrupt as error:
            raise FictlError(f"{module.module}: its files are not whole: {error}") from None
        manifest = entry.manifest
        names = (manifest.project, manifest.module, manifest.recipe, manifest.build)
        if names != (module.project, module.module, module.recipe, module.build):
            raise FictlError(f"{module.module}: its files are of {'/'.join(names)[:200]}")
        final = store.recipe_dir(module.project, module.module, module.recipe)
        return publish(staging, final / module.build)


def _stamped(entry: Entry) -> Entry:
    """Give the manifest the times that the files have here, once their bytes are checked."""
    entry.verify(everything=True)
    files = {
        name: FileStamp(stamp.size, (entry.path / name).stat().st_mtime_ns, stamp.sha256)
        for name, stamp in entry.manifest.files.items()
    }
    manifest = replace(entry.manifest, files=files)
    (entry.path / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    return Entry(entry.path, manifest)
