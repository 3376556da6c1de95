"""Builds of ops by name, to and from remotes: the library of `fictl cache push` and `pull`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from fictl import settings
from fictl.arch import Arch
from fictl.builds.building import specs_of
from fictl.builds.for_archs import for_archs
from fictl.errors import FictlError, UsageError
from fictl.jit.emulated_runtime import runtime_spec
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.prefetch import prefetch
from fictl.jit.recipe import recipe_of
from fictl.jit.remote import remotes
from fictl.jit.remote.bucket import BadAnswer, Bucket
from fictl.jit.remote.mark import require_ours
from fictl.jit.remote.push import key_for
from fictl.jit.remote.send_entry import send, unsendable
from fictl.jit.remote.url import open_bucket
from fictl.jit.store.entry import Entry, Unusable
from fictl.jit.store.stores import writable_store

_AT_ONCE = 32
SENT, THERE, MISSING, KEPT, FAILED = "sent", "there", "missing", "kept", "failed"
FETCHED, HERE = "fetched", "here"


@dataclass(frozen=True)
class Moved:
    """Result for one module, or for one build of it: a state, and in words how or why.

    Pushed: sent, there (the remote has it), kept (not to be shared), missing (not built), failed.
    Pulled: fetched, here (a store has it), missing, failed.
    """

    project: str
    module: str
    state: str
    text: str = ""
    build: str = ""
    archs: tuple[str, ...] = ()
    blobs: int = 0
    size: int = 0
    error: FictlError | None = None

    def to_dict(self) -> dict[str, Any]:
        error = self.error and self.error.to_dict()
        return {**self.__dict__, "archs": list(self.archs), "error": error}


@dataclass(frozen=True)
class Pushed:
    """Results of a push to one URL."""

    url: str
    results: tuple[Moved, ...]


def push_builds(names: Sequence[str], to: str = "", dry_run: bool = False) -> Pushed:
    """Send the cached builds of the current sources of these ops, or of all of this project."""
    bucket = open_bucket(to) if to else _nearest_writable()
    bucket_key = key_for(bucket)
    require_ours(bucket, make=not dry_run)
    jobs = [(spec, entry) for spec in _with_runtime(specs_of(names)) for entry in _built(spec)]

    def one(job: tuple[ModuleSpec, Entry | None]) -> Moved:
        spec, entry = job
        if entry is None:
            return Moved(spec.project, spec.name, MISSING, "it is not built here")
        named = (entry.manifest.build, entry.manifest.archs)
        if reason := unsendable(entry):
            return Moved(spec.project, spec.name, KEPT, reason, *named)
        if dry_run:
            return Moved(spec.project, spec.name, SENT, "would be sent", *named)
        try:
            sent = send(bucket, entry, spec.base, bucket_key)
        except (FictlError, BadAnswer, Unusable) as error:
            failed = error if isinstance(error, FictlError) else FictlError(str(error))
            return Moved(spec.project, spec.name, FAILED, failed.message, *named, error=failed)
        state = THERE if sent.already and not sent.blobs else SENT
        return Moved(spec.project, spec.name, state, "", *named, sent.blobs, sent.bytes)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return Pushed(bucket.url, tuple(pool.map(one, jobs)))


def pull_builds(
    names: Sequence[str], archs: tuple[Arch, ...], dry_run: bool = False
) -> list[Moved]:
    """Fetch what the remotes have of these ops, or of all of this project, and no store has."""
    _require_remotes()
    specs = _with_runtime(for_archs(specs_of(names), archs))
    answers = prefetch(specs, archs, patient=True, look_only=dry_run)
    return [_pulled(spec, answer) for spec, answer in zip(specs, answers, strict=True)]


def _pulled(spec: ModuleSpec, answer: Any) -> Moved:
    if isinstance(answer, FictlError):
        return Moved(spec.project, spec.name, FAILED, answer.message, error=answer)
    if answer.entry is None and answer.by:
        return Moved(spec.project, spec.name, FETCHED, f"would be, from {answer.by}")
    if answer.entry is None:
        return Moved(spec.project, spec.name, MISSING, "; ".join(answer.reasons))
    manifest = answer.entry.manifest
    size = sum(stamp.size for stamp in manifest.files.values())
    named = (manifest.build, manifest.archs)
    if not answer.by:
        return Moved(spec.project, spec.name, HERE, "", *named)
    return Moved(spec.project, spec.name, FETCHED, answer.by, *named, len(manifest.files), size)


def _built(spec: ModuleSpec) -> list[Entry | None]:
    """List the builds of a spec's current sources in the cache; [None] if there is none."""
    return [*writable_store().entries(spec.project, spec.name, recipe_of(spec).key)] or [None]


def _with_runtime(specs: Sequence[ModuleSpec]) -> list[ModuleSpec]:
    """Add the emulated device's runtime, without which emulated modules do not load."""
    emulated = any(spec.runs_on == "emu" for spec in specs)
    return [*specs, *([runtime_spec()] if emulated else [])]


def _require_remotes() -> None:
    if not remotes.urls():
        raise UsageError(
            f"no remote is set: {settings.REMOTE.name} is empty, or {settings.REMOTE_MODE.name}=off",
            f"{settings.REMOTE.name}=s3://bucket/prefix or file:///folder",
        )


def _nearest_writable() -> Bucket:
    _require_remotes()
    for url in remotes.urls():
        bucket = open_bucket(url)
        if bucket.writable:
            return bucket
    raise UsageError(
        f"none of {settings.REMOTE.name} can be written: web servers are read only",
        "--to names another one",
    )
