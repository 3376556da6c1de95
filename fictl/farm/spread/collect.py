"""Builds that another place made, taken into the cache of this machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from fictl.builds.building import BuiltModule
from fictl.child.codec import from_json
from fictl.errors import FictlError
from fictl.farm.spread.command_job import CommandResult
from fictl.farm.spread.readable import readable
from fictl.farm.tree import unpack
from fictl.jit.store.entry import MANIFEST, Corrupt, Entry, FileStamp
from fictl.jit.store.staging import publish, staging_folder
from fictl.jit.store.stores import writable_store
from fictl.jit.store.writing import writing

_PART = re.compile(r"(?!\.)[\w.+-]{1,200}")


@dataclass(frozen=True)
class _Row:
    """A module in the answer of `fictl build`."""

    project: str
    module: str
    archs: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    origin: str = ""
    compiled: bool = False
    seconds: float = 0.0
    recipe: str = ""
    build: str = ""
    path: str = ""
    why: str = ""
    title: str = ""
    error: dict[str, str | None] | None = None

    @classmethod
    def read(cls, data: Any) -> _Row:
        names = {one.name for one in fields(cls)}
        known = {name: value for name, value in data.items() if name in names}
        row: _Row = from_json(cls, known)
        return row

    @property
    def built(self) -> BuiltModule:
        facts = {one.name: getattr(self, one.name) for one in fields(self)}
        words = facts.pop("error")
        error = FictlError(words.get("message") or "", words.get("hint") or "") if words else None
        return BuiltModule(**{**facts, "error": error, "path": "" if error else self.path})


def collected(results: Sequence[CommandResult]) -> list[BuiltModule]:
    """Publish what came back; a module that cannot be trusted, or failed, has its error."""
    return [built for result in results for built in _of(result)]


def _of(result: CommandResult) -> list[BuiltModule]:
    if result.data is None and result.error:
        return [_failed(result, result.error)]
    try:
        with readable(result):
            if not isinstance(result.data, list):
                raise TypeError("it is not a list of builds")
            rows = [_Row.read(data) for data in result.data]
    except FictlError as error:
        return [_failed(result, error)]
    return [replace(_module(row, result), place=result.place) for row in rows]


def _failed(result: CommandResult, error: FictlError) -> BuiltModule:
    project, _, op = result.job.name.partition("/")
    name = op.replace("/", ".")
    title = f"{name} at {result.place}"
    return BuiltModule(project, name, error=error, title=title, place=result.place)


def _module(row: _Row, result: CommandResult) -> BuiltModule:
    module = row.built
    if module.error:
        return module
    packed = result.kept.get(row.path)
    if packed is None:
        error = FictlError(f"{module.module}: {result.place} did not send its files")
        return replace(module, error=error)
    try:
        return replace(module, path=str(_published(packed, module).path))
    except FictlError as problem:
        return replace(module, error=problem)
    finally:
        packed.unlink(missing_ok=True)


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
