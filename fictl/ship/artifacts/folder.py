"""The folder of artifacts of this machine: a store of builds, and the snapshots they belong to."""

from __future__ import annotations

import json
import os
import platform
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from fictl import private_folder, rooted
from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.jit.remote.bucket import BadAnswer, NotThere
from fictl.jit.remote.document import Document
from fictl.jit.remote.folder import FolderBucket
from fictl.jit.store.entry import MANIFEST, Corrupt, Entry, FileStamp, Manifest, Unusable
from fictl.jit.store.staging import is_abandoned, publish
from fictl.jit.store.stores import STORE_FILE, Store, artifacts_store, refuse_other
from fictl.jit.store.writing import writing
from fictl.paths import cache_root, matching
from fictl.ship.aot import refuse_links
from fictl.ship.artifacts.fitting import chosen
from fictl.ship.artifacts.names import FOLDER, joined, parsed
from fictl.ship.artifacts.signed import Signed, read_signed, write_signed
from fictl.ship.artifacts.snapshot import Snapshot
from fictl.version import VERSION

_STAGING = ".staging"
_TRIES = 10
_LARGEST_CHOICE = 1 << 16
# Facts of a manifest that each machine has its own of, or that say who built and sent it.
_LOCAL = ("created", "seconds", "peak_kib", "units", "origin", "source", "builder")


@dataclass(frozen=True)
class ArtifactsFolder:
    """A folder that holds builds as a store does, and the documents of snapshots beside them."""

    store: Store

    @classmethod
    def at(cls, root: Path | None = None) -> ArtifactsFolder:
        """Return the folder at `root`, or that of the settings; it need not exist."""
        store = artifacts_store()
        return cls(replace(store, root=root.absolute()) if root else store)

    @property
    def root(self) -> Path:
        return self.store.root

    @property
    def bucket(self) -> FolderBucket:
        """Return the folder as a bucket, for its snapshots alone."""
        return FolderBucket(self.root.as_uri(), self.root)

    @property
    def exists(self) -> bool:
        return os.path.isfile(self.root / STORE_FILE)

    def make(self) -> None:
        """Create the folder; refuse one with other contents. Remains of killed runs are removed."""
        if not self.exists:
            refuse_other(self.root)
            with writing(self.root):
                if self._is_private:
                    private_folder.make(self.root.parent, self.root.name)
                self.root.mkdir(parents=True, exist_ok=True)
                mark = json.dumps({"fictl": VERSION, "artifacts": True})
                (self.root / STORE_FILE).write_text(mark + "\n", encoding="utf-8")
        self.store.check_ours()
        self._sweep()

    def snapshots(self) -> Iterator[Signed]:
        """Yield the snapshots that can be read, the newest first."""
        paths = matching(self.root / FOLDER, "*.json")
        names = [name for path in paths if parsed(name := f"{FOLDER}/{path.name}")]
        signed = []
        for name in names:
            with suppress(BadAnswer, NotThere):
                one = read_signed(self.bucket, name)
                signed.append(replace(one, at_home=self._is_private))
        yield from sorted(signed, key=lambda one: one.snapshot.created, reverse=True)

    def save(self, signed: Signed, archs: tuple[Arch, ...] = (), everything: bool = True) -> None:
        """Write a snapshot, all of whose builds are here that run on `archs`, or all builds."""
        choice = {"archs": [str(arch) for arch in archs], "everything": everything}
        self.bucket.write(_choice_name(signed.snapshot), json.dumps(choice).encode())
        write_signed(self.bucket, signed)

    def held(self, snapshot: Snapshot) -> tuple[Document, ...]:
        """Return the builds of a snapshot that were brought here, and should be here."""
        try:
            choice = json.loads(self.bucket.read(_choice_name(snapshot), _LARGEST_CHOICE))
            archs = tuple(Arch.parse(arch) for arch in choice["archs"])
            return chosen(snapshot.documents, archs, bool(choice["everything"]))
        except (NotThere, BadAnswer, ValueError, KeyError, TypeError, RecursionError):
            return snapshot.documents

    def newest(self, name: str, sha256: str = "") -> Signed | None:
        """Return the newest snapshot of a name, or the one of that hash."""
        fitting = (one for one in self.snapshots() if one.snapshot.name == name)
        return next((one for one in fitting if sha256 in ("", one.snapshot.sha256)), None)

    def require(self, name: str, sha256: str = "") -> Signed:
        """Return that snapshot; raise where it is not here, or nobody trusted vouches for it."""
        signed = self.newest(name, sha256)
        if signed is None:
            raise UsageError(
                f"{self.root} has no snapshot {joined(name, sha256)}",
                f"fictl artifacts build {name} makes it, fictl artifacts pull {name} brings it",
            )
        signed.require_trusted(str(self.root))
        return signed

    def place(self, document: Document) -> Path:
        it = document.manifest
        return self.store.recipe_dir(it.project, it.module, it.recipe) / it.build

    def entry(self, document: Document) -> Entry | None:
        """Return the build of a document if it is here, whole, and the one that is meant."""
        try:
            entry = Entry.read(self.place(document))
            entry.verify(everything=True)
        except Unusable:
            return None
        return entry if is_copy(entry, document) else None

    def is_damaged(self, document: Document) -> bool:
        """True if something lies in a build's place that is not a whole build."""
        try:
            Entry.read(self.place(document)).verify(everything=True)
        except Corrupt:
            return os.path.lexists(self.place(document))
        except Unusable:
            pass
        return False

    def put(
        self, document: Document, origin: Mapping[str, str], fill: Callable[[str, Path], None]
    ) -> Entry:
        """Publish a build: `fill` writes each of its files, and checks its hash."""
        final = self.place(document)
        refuse_links(self.root, final)
        with self._staged() as staging:
            for name in document.manifest.files:
                fill(name, staging / name)
            files = {name: FileStamp.of(staging / name) for name in document.manifest.files}
            manifest = replace(
                document.manifest, files=files, origin=dict(origin), created=time.time()
            )
            (staging / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
            if os.path.lexists(final) and self.entry(document) is None:
                with suppress(OSError):
                    rooted.remove(self.root, final)
            return publish(staging, final)

    @property
    def _is_private(self) -> bool:
        return self.root.parent == cache_root()

    @contextmanager
    def _staged(self) -> Iterator[Path]:
        """Make a fresh folder that no lookup sees; it is gone afterwards, published or not."""
        name = f"{platform.node()}+{os.getpid()}+{secrets.token_hex(4)}"
        path = self.root / _STAGING / name
        try:
            with writing(self.root):
                _make(path)
                yield path
        finally:
            with suppress(OSError):
                rooted.remove(self.root, path)
            with suppress(OSError):
                rooted.remove_if_empty(self.root, path.parent)

    def _sweep(self) -> None:
        """Remove what killed runs left."""
        for path in matching(self.root / _STAGING, "*"):
            if is_abandoned(path):
                with suppress(OSError):
                    rooted.remove(self.root, path)
        with suppress(OSError):
            rooted.remove_if_empty(self.root, self.root / _STAGING)


def _choice_name(snapshot: Snapshot) -> str:
    return snapshot.path.removesuffix(".json") + ".choice"


def is_copy(entry: Entry, document: Document) -> bool:
    """True if a build is the one that a document describes."""
    return is_same(entry.manifest, document.manifest)


def is_same(one: Manifest, other: Manifest) -> bool:
    """True if two manifests describe one build, whoever built it, and wherever it lies."""
    files = {name: replace(stamp, mtime_ns=0) for name, stamp in one.files.items()}
    theirs = {name: replace(stamp, mtime_ns=0) for name, stamp in other.files.items()}
    local = {name: getattr(other, name) for name in _LOCAL}
    return replace(one, files=files, **local) == replace(other, files=theirs)


def _make(path: Path) -> None:
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):  # Another run removed an empty parent.
            private_folder.make_within(path)
            return
    private_folder.make_within(path)
