"""Software bill of materials of builds: CycloneDX JSON, from their manifests alone.

Two runs on the same builds write the same bytes: there is no clock and no random number in it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError
from fictl.jit.cache.inventory import builds
from fictl.jit.store.entry import Manifest
from fictl.ship.verify import require_store
from fictl.version import VERSION

SCHEMA = "http://cyclonedx.org/schema/bom-1.6.schema.json"
SPEC_VERSION = "1.6"

_NUMBER = re.compile(r"\d+(?:\.\d+)+")
# Names in a build's toolchain that are packages of PyPI.
_ON_PYPI = {"cutlass": "nvidia-cutlass", "triton": "triton", "cute-dsl": "nvidia-cutlass-dsl"}
_PROGRAMS = ("nvcc", "cxx")

Component = dict[str, Any]


@dataclass(frozen=True)
class Shipment:
    """The wheel, folder or snapshot that is described.

    version: '' if it has none. license: an SPDX expression, or ''.
    """

    name: str
    version: str = ""
    license: str = ""

    @property
    def ref(self) -> str:
        return f"shipment:{self.name}@{self.version}"


def sbom(shipment: Shipment, manifests: Iterable[Manifest]) -> str:
    """Return the document as text."""
    return json.dumps(bill(shipment, manifests), indent=1, ensure_ascii=True) + "\n"


def sbom_of_folder(root: Path) -> str:
    """Return the document of a folder of prebuilt modules; refuse one that is none, or is damaged."""
    require_store(root)
    items = builds(root)
    broken = next((item.path for item in items if item.entry is None), None)
    if broken is not None:
        raise FictlError(f"{broken} has no readable manifest", f"fictl aot verify {root}")
    manifests = [item.entry.manifest for item in items if item.entry]
    return sbom(Shipment(root.name), manifests)


def bill(shipment: Shipment, manifests: Iterable[Manifest]) -> dict[str, Any]:
    """Return the document: the shipment, its modules, their sources by hash, and what built them."""
    ordered = sorted(manifests, key=_ref)
    parts = {part["bom-ref"]: part for manifest in ordered for part in _parts(manifest)}
    modules = {_ref(manifest): _module(manifest) for manifest in ordered}
    uses = {_ref(m): sorted({part["bom-ref"] for part in _parts(m)}) for m in ordered}
    components = [*modules.values(), *(parts[ref] for ref in sorted(parts))]
    document = {
        "metadata": {"tools": {"components": [_tool()]}, "component": _subject(shipment)},
        "components": components,
        "dependencies": [
            {"ref": shipment.ref, "dependsOn": [*modules]},
            *({"ref": ref, "dependsOn": used} for ref, used in uses.items()),
        ],
    }
    # The content names itself, so that a changed document has another number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    head = {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
    }
    return {**head, **document}


def _subject(shipment: Shipment) -> Component:
    licenses = [{"expression": shipment.license}] if shipment.license else []
    return {
        "type": "library",
        "bom-ref": shipment.ref,
        "name": shipment.name,
        **({"version": shipment.version} if shipment.version else {}),
        **({"licenses": licenses} if licenses else {}),
    }


def _tool() -> Component:
    return {"type": "application", "name": "fictl", "version": VERSION}


def _ref(manifest: Manifest) -> str:
    return (
        f"module:{manifest.project}/{manifest.module}/{manifest.recipe}/{manifest.build}"
        f"#{_digest(manifest)}"
    )


def _digest(manifest: Manifest) -> str:
    return "".join(stamp.sha256[:16] for _, stamp in sorted(manifest.files.items()))


def _module(manifest: Manifest) -> Component:
    facts = {
        "recipe": manifest.recipe,
        "build": manifest.build,
        "device": manifest.device,
        "variant": manifest.variant,
        "archs": " ".join(manifest.archs),
        "platform": manifest.platform,
    }
    return {
        "type": "library",
        "bom-ref": _ref(manifest),
        "group": manifest.project,
        "name": manifest.module,
        "version": manifest.recipe,
        "hashes": [_sha256(stamp.sha256) for _, stamp in sorted(manifest.files.items())],
        "properties": [
            {"name": f"fictl:{name}", "value": value} for name, value in facts.items() if value
        ],
    }


def _parts(manifest: Manifest) -> Iterator[Component]:
    """Yield the sources of a module, the programs that built it and the libraries in it."""
    for name, sha256 in manifest.inputs.items():
        # A file beside the op is named as in many other ops; a header is the same for all.
        place = name if name.startswith("<") else f"{manifest.project}/{manifest.module}/{name}"
        yield {
            "type": "file",
            "bom-ref": f"source:{place}@{sha256}",
            "name": place.strip("<>"),
            "hashes": [_sha256(sha256)],
        }
    for name, identity in manifest.toolchain.items():
        yield _of_toolchain(name, identity)
    if manifest.device == "cuda":
        yield _component(
            "library", "cudart", str(manifest.cudart), "not inside: the process brings it"
        )
    yield _component("library", "apache-tvm-ffi", manifest.ffi_abi, "the version of its ABI")


def _of_toolchain(name: str, identity: str) -> Component:
    """Describe a program or library; its whole identity is the description."""
    if name in _ON_PYPI:
        package = _ON_PYPI[name]
        library = _component("library", package, identity, f"{name}, as installed by pip")
        return {**library, "purl": f"pkg:pypi/{package}@{identity}"}
    if name == "cccl" and identity.isdigit():
        number = int(identity)
        version = f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
        return _component("library", "cccl", version, identity)
    kind = "application" if name in _PROGRAMS else "library"
    title = identity.partition(" ")[0] if name == "cxx" else name
    number_text = _NUMBER.search(identity.partition(") ")[2] or identity)
    return _component(kind, title, number_text[0] if number_text else identity, identity)


def _component(kind: str, name: str, version: str, description: str) -> Component:
    return {
        "type": kind,
        "bom-ref": f"tool:{name}@{version}:{description}",
        "name": name,
        "version": version,
        "description": description,
    }


def _sha256(digest: str) -> dict[str, str]:
    return {"alg": "SHA-256", "content": digest}
