"""Wheels of prebuilt modules: a store that pip installs, and that fictl finds without a setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from fictl import rooted, settings
from fictl.arch import Arch
from fictl.builds.building import specs_of
from fictl.builds.for_archs import for_archs
from fictl.errors import FictlError, UsageError
from fictl.jit import JitSpec
from fictl.jit.batch import build_all
from fictl.jit.emulated_runtime import runtime_spec
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.progress import BuildObserver
from fictl.jit.remote.document import document_of
from fictl.jit.store.entry import MANIFEST, Entry, FileStamp, Manifest
from fictl.jit.store.shareable import unshareable
from fictl.jit.store.stores import LAYOUT, STORE_FILE
from fictl.jit.store.use import keep
from fictl.project import Project
from fictl.quantity import spell_size
from fictl.ship.aot import REBUILD, refuse_unshared_variant
from fictl.ship.families import Part, by_family
from fictl.ship.platform_tag import platform_tag
from fictl.ship.sbom import Shipment, sbom
from fictl.ship.source_package import (
    SourcePackage,
    checked_name,
    checked_version,
    source_package,
)
from fictl.ship.wheel_file import Content, TooLarge, write_wheel
from fictl.ship.wheel_metadata import WheelName, entry_points, metadata_text, wheel_text
from fictl.version import VERSION

SPLITS = ("auto", "family", "none")
LARGEST = 95 << 20  # PyPI takes 100 MiB.
_PURE_PYTHON = "py3-none"  # No module knows Python's ABI: tvm-ffi stands between.


@dataclass(frozen=True)
class WheelOptions:
    """`name` replaces `<project>-prebuilt`; `split` is one of SPLITS; `largest` is in bytes."""

    out: Path
    name: str = ""
    version: str = ""
    split: str = "auto"
    largest: int = LARGEST


@dataclass(frozen=True)
class Wheel:
    """One wheel that was written; `unpacked` are the bytes of its modules."""

    path: Path
    name: str
    version: str
    tag: str
    size: int
    unpacked: int
    modules: tuple[str, ...]
    archs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "path": str(self.path)}


def make_wheels(
    options: WheelOptions, names: Sequence[str], archs: tuple[Arch, ...], observer: BuildObserver
) -> list[Wheel]:
    """Build the ops, or all of this project, and pack them; one failure and nothing is packed."""
    refuse_unshared_variant()
    specs = for_archs(specs_of(names), archs, observer.note)
    source = source_package(_project_of(specs))
    packer = _Packer(
        options, replace(source, version=checked_version(options.version or source.version))
    )
    checked_name(packer.base)
    emulated = settings.DEVICE.get() == "emu"
    if options.split != "family" or emulated:
        try:
            return [packer.pack(Part("", tuple(specs), archs), observer)]
        except TooLarge as error:
            parts = [] if emulated else by_family(specs, archs)
            if options.split == "none" or len(parts) < 2:
                raise _too_large(packer.base, error.size, options, parts) from None
            limit = f"{spell_size(error.size)}, over {spell_size(options.largest)}"
            observer.note(f"one wheel of all has {limit}: one for each of {_families(parts)}")
    return [packer.pack_fitting(part, observer) for part in by_family(specs, archs)]


@dataclass(frozen=True)
class _Packer:
    """Packs builds of one project."""

    options: WheelOptions
    source: SourcePackage

    @property
    def base(self) -> str:
        """The name of the package, before its family and its CUDA."""
        return self.options.name or f"{self.source.name}-prebuilt"

    def pack_fitting(self, part: Part, observer: BuildObserver) -> Wheel:
        try:
            return self.pack(part, observer)
        except TooLarge as error:
            raise _too_large(f"{self.base}-{part.family}", error.size, self.options, []) from None

    def pack(self, part: Part, observer: BuildObserver) -> Wheel:
        entries = _built(part, observer)
        name = self._name(part, entries)
        manifests = [_lasting(entry.manifest, name) for entry in entries]
        members = dict(self._members(name, entries, manifests))
        path = self.options.out / name.file
        size = write_wheel(path, members, self.options.largest)
        archs = {arch: None for entry in entries for arch in sorted(entry.archs)}
        return Wheel(
            path,
            name.name,
            name.version,
            name.tag,
            size,
            sum(stamp.size for m in manifests for stamp in m.files.values()),
            tuple(f"{m.project}/{m.module}" for m in manifests),
            tuple(map(str, sorted(archs))),
        )

    def _name(self, part: Part, entries: Sequence[Entry]) -> WheelName:
        majors = {e.manifest.cudart for e in entries if e.manifest.device == "cuda"}
        if len(majors) > 1:
            listed = " and ".join(map(str, sorted(majors)))
            raise FictlError(
                f"these builds are of CUDA {listed}",
                "a wheel is of one: fictl cache clear, then again",
            )
        suffix = f"cu{majors.pop()}" if majors else "emu"
        full = "-".join(filter(None, (self.base, part.family, suffix)))
        return WheelName(full, self.source.version, f"{_PURE_PYTHON}-{platform_tag(entries)}")

    def _members(
        self, name: WheelName, entries: Sequence[Entry], manifests: Sequence[Manifest]
    ) -> Iterator[tuple[str, Content]]:
        yield from _store(name.package, entries, manifests)
        shipment = Shipment(name.name, name.version, self.source.license)
        texts = {
            "WHEEL": wheel_text(name),
            "METADATA": metadata_text(name, self.source, manifests),
            "entry_points.txt": entry_points(name),
            "sboms/fictl.cdx.json": sbom(shipment, manifests),
        }
        for file, text in texts.items():
            yield f"{name.info}/{file}", text.encode
        for file, content in self.source.license_files.items():
            yield f"{name.info}/licenses/{file}", _always(content)


def _store(
    package: str, entries: Sequence[Entry], manifests: Sequence[Manifest]
) -> Iterator[tuple[str, Content]]:
    yield f"{package}/{STORE_FILE}", (json.dumps({"fictl": VERSION}) + "\n").encode
    for entry, manifest in zip(entries, manifests, strict=True):
        keep(entry)
        place = (
            package,
            LAYOUT,
            manifest.project,
            manifest.module,
            manifest.recipe,
            manifest.build,
        )
        folder = "/".join(place)
        for file, stamp in manifest.files.items():
            yield f"{folder}/{file}", partial(_whole, entry.path / file, stamp)
        yield f"{folder}/{MANIFEST}", manifest.to_json().encode


def _whole(path: Path, stamp: FileStamp) -> bytes:
    """Read a file of a build; refuse other bytes than were published."""
    import hashlib

    data = rooted.read(path)
    if hashlib.sha256(data).hexdigest() != stamp.sha256:
        raise FictlError(
            f"{path} has other bytes than were published", "fictl cache verify --repair"
        )
    return data


def _always(content: bytes) -> Content:
    return lambda: content


def _lasting(manifest: Manifest, name: WheelName) -> Manifest:
    """Return the manifest as its document has it, without what differs between equal builds."""
    lasting = document_of(manifest, {}, "").manifest
    created = float(settings.SOURCE_DATE_EPOCH.get() or 0)
    return replace(lasting, created=created, origin={"wheel": f"{name.name} {name.version}"})


def _built(part: Part, observer: BuildObserver) -> list[Entry]:
    specs: list[ModuleSpec] = [*part.specs]
    if settings.DEVICE.get() == "emu":
        specs.append(runtime_spec())
    results = build_all(specs, part.archs, observer, exact=True)
    failures = [result for result in results if isinstance(result, FictlError)]
    if failures:
        listed = "\n".join(error.message for error in failures)
        raise FictlError(
            f"{len(failures)} of {len(results)} modules do not build:\n{listed}", failures[0].hint
        )
    entries = {r.entry.path: r.entry for r in results if not isinstance(r, FictlError)}
    for entry in entries.values():
        if reason := unshareable(entry):
            raise FictlError(f"{entry.manifest.module} is not packed: {reason}", REBUILD)
    key: Callable[[Entry], tuple[str, ...]] = lambda entry: entry.path.parts[-4:]  # noqa: E731
    return sorted(entries.values(), key=key)


def _project_of(specs: Sequence[JitSpec]) -> Project:
    names = sorted({spec.project for spec in specs})
    if not names:
        raise UsageError("no op here has a module to pack", "fictl list shows the ops")
    if len(names) > 1:
        raise UsageError(f"these ops are of {' and '.join(names)}", "a wheel is of one project")
    return next(project for project in Project.all() if project.name == names[0])


def _too_large(name: str, size: int, options: WheelOptions, parts: Sequence[Part]) -> FictlError:
    seen = f"{name} has {spell_size(size)}, over the {spell_size(options.largest)} of --max-size"
    if len(parts) > 1:
        return FictlError(seen, f"--split auto makes one wheel for each of {_families(parts)}")
    return FictlError(seen, "name fewer ops, and the others in a wheel of another --name")


def _families(parts: Sequence[Part]) -> str:
    return ", ".join(part.family for part in parts)
