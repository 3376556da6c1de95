"""The bill of materials of a snapshot: its signed document has all facts, so nothing else is kept."""

from __future__ import annotations

from pathlib import Path

from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.names import split
from fictl.ship.sbom import Shipment, sbom


def bill_of(name: str, root: Path | None = None) -> str:
    """Return the CycloneDX text for NAME or NAME@SHA256 in a folder of artifacts."""
    snapshot = ArtifactsFolder.at(root).require(*split(name)).snapshot
    shipment = Shipment(snapshot.name, snapshot.sha256)
    return sbom(shipment, (document.manifest for document in snapshot.documents))
