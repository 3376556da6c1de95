"""The document of a build: what of its manifest is the same on every machine, and who made it.

It is canonical JSON, named by its own hash. The signature's comment repeats its key, so that neither
can be moved to another build.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from fictl.errors import shown
from fictl.jit.remote.bucket import BadAnswer, is_name
from fictl.jit.store.entry import Corrupt, Manifest, Newer, is_newer
from fictl.sealed import seal

LARGEST = 1 << 20  # Of a document.
LARGEST_FILE = 2 << 30
_MOST_FILES = 16
# Facts of one run, or of one machine, which are not in a document; with what stands for them in a copy.
_LOCAL: dict[str, Any] = {"created": 0.0, "seconds": 0.0, "peak_kib": 0, "units": {}}
_OWN = ("origin",)
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Document:
    """A document's bytes, and the manifest they stand for, whose local facts are empty."""

    data: bytes
    manifest: Manifest

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def folder(self) -> str:
        it = self.manifest
        return recipe_folder(it.project, it.module, it.recipe)

    @property
    def name(self) -> str:
        """Return its name in a bucket."""
        return f"{self.folder}/{self.manifest.build}-{self.sha256}.json"

    @property
    def comment(self) -> str:
        """Return the comment that is signed with it: which build it is of."""
        it = self.manifest
        return f"fictl.build {it.project}/{it.module}/{it.recipe}/{it.build}"

    @property
    def blobs(self) -> dict[str, str]:
        """Return the names in a bucket of the build's files."""
        return {name: blob_name(stamp.sha256) for name, stamp in self.manifest.files.items()}


def document_of(manifest: Manifest, source: dict[str, Any], builder: str) -> Document:
    """Make the document; `source` is the commit that has the inputs, and if the tree was dirty."""
    kept = {name: value for name, value in asdict(manifest).items() if name not in (*_LOCAL, *_OWN)}
    files = {
        name: {"size": stamp.size, "sha256": stamp.sha256} for name, stamp in manifest.files.items()
    }
    return read_document(canonical({**kept, "files": files, "source": source, "builder": builder}))


def read_document(data: bytes) -> Document:
    """Read a document from anywhere; raise BadAnswer unless it is one in every respect, or Newer."""
    try:
        plain = json.loads(data)
        if is_newer(plain["schema"]):
            raise Newer.by(plain["schema"])  # Before all else: its fields may be others.
        for name, stamp in plain["files"].items():
            _check_file(name, stamp)
        files = {name: {**stamp, "mtime_ns": 0} for name, stamp in plain["files"].items()}
        known = {one.name: plain[one.name] for one in fields(Manifest) if one.name in plain}
        manifest = Manifest.from_json(seal({**known, "files": files, **_LOCAL}))
    except (Corrupt, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadAnswer(f"it is not the document of a build: {shown(str(error))}") from None
    key = (manifest.project, manifest.module, manifest.recipe, manifest.build)
    if not 0 < len(files) <= _MOST_FILES or not all(map(_is_part, key)):
        raise BadAnswer("it is not the document of a build: its names are not ours")
    return Document(data, manifest)


def canonical(data: dict[str, Any]) -> bytes:
    """Encode as JSON with only one spelling: sorted, without spaces, in ASCII."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), default=str).encode("ascii")


def recipe_folder(project: str, module: str, recipe: str) -> str:
    return f"builds/{project}/{module}/{recipe}"


def blob_name(sha256: str) -> str:
    return f"blobs/sha256/{sha256[:2]}/{sha256}"


def is_sha256(text: object) -> bool:
    return isinstance(text, str) and _SHA256.fullmatch(text) is not None


def _is_part(name: object) -> bool:
    return isinstance(name, str) and "/" not in name and is_name(name)


def _check_file(name: str, stamp: dict[str, Any]) -> None:
    size = stamp["size"]
    if not _is_part(name):
        raise ValueError(f"{name!r} is not the name of a file")
    if not is_sha256(stamp["sha256"]) or set(stamp) != {"size", "sha256"}:
        raise ValueError(f"{name} has no SHA-256")
    if type(size) is not int or not 0 <= size <= LARGEST_FILE:
        raise ValueError(f"{name} has {size!r} bytes, and {LARGEST_FILE} is the most")
