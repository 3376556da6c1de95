"""metadata.json of one build variant, as Hugging Face's `kernels` reads and verifies it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.errors import UsageError

FILE = "metadata.json"
_NAME = re.compile(r"[a-z][-a-z0-9]*[a-z0-9]")


@dataclass(frozen=True)
class Backend:
    """`kind` is cuda or cpu, `variant` its part of the folder's name, as in cu130."""

    kind: str
    variant: str
    archs: tuple[str, ...]


def kernel_name(text: str) -> str:
    """Return the name of a kernel: of a project and an op, or the one that was given."""
    if not _NAME.fullmatch(text):
        raise UsageError(
            f"{text!r} is not a name of a kernel",
            "lower-case letters, digits and dashes, as in my-kernel; a letter first, none last",
        )
    return text


def default_name(project: str, module: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", f"{project}-{module}".lower()).strip("-")


def metadata(
    name: str, version: int, licence: str, backend: Backend, files: Mapping[str, bytes]
) -> str:
    """Return the document. Its id, the name of the imported module, is unique to these files."""
    digests = {path: _digest(files[path]) for path in sorted(files)}
    return json.dumps(_document(name, version, licence, backend, digests), indent=2) + "\n"


def _document(
    name: str, version: int, licence: str, backend: Backend, digests: Mapping[str, str]
) -> dict[str, Any]:
    about: Sequence[object] = (name, version, backend.variant, sorted(digests.items()))
    unique = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:16]
    return {
        "name": name,
        "id": f"_{name.replace('-', '_')}_{backend.variant}_{unique}",
        "version": version,
        "license": licence,
        "python-depends": ["tvm-ffi"],
        "backend": {"type": backend.kind, **({"archs": backend.archs} if backend.archs else {})},
        "digest": {"algorithm": "sha256", "files": digests},
    }


def _digest(data: bytes) -> str:
    return base64.b64encode(hashlib.sha256(data).digest()).decode()
