"""Builds that nobody compiled, snapshots of them, a key, and repositories to send them to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fictl import settings
from fictl.jit.ffi import ffi_abi
from fictl.jit.remote.document import Document, document_of
from fictl.jit.store.entry import MODULE, FileStamp, Manifest
from fictl.jit.store.this_platform import here
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.push import push
from fictl.ship.artifacts.signed import Signed
from fictl.ship.artifacts.snapshot import make_snapshot
from fictl.trust import keys_file
from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey

OTHER = "aarch64-linux-glibc2.28" if here().machine != "aarch64" else "x86_64-linux-glibc2.28"
NOON = 1_795_000_000.0


@dataclass
class Watch:
    """What a transfer told."""

    planned_: list[tuple[str, int, int]] = field(default_factory=list)
    bytes: int = 0
    notes: list[str] = field(default_factory=list)

    def planned(self, doing: str, files: int, size: int) -> None:
        self.planned_.append((doing, files, size))

    def moved(self, size: int) -> None:
        self.bytes += size

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture(autouse=True)
def _trusts_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.TRUST.name, str(tmp_path / "trust.toml"))


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SecretKey:
    """A key that signs what is frozen, and that is trusted."""
    secret = SecretKey.generate()
    path = tmp_path / "secret.key"
    path.write_text(secret.text(), encoding="utf-8")
    path.chmod(0o600)
    monkeypatch.setenv(settings.SIGNING_KEY.name, str(path))
    keys_file.add(TrustedKey("ci", secret.public))
    return secret


Make = Callable[..., tuple[Document, bytes]]


@pytest.fixture
def build(tmp_path: Path) -> Make:
    """The document of a build, and the bytes of its module."""

    def make(module: str = "norm.rms", content: bytes = b"", **changes: Any) -> tuple:
        content = content or f"code of {module}".encode() * 40
        path = tmp_path / "content"
        path.write_bytes(content)
        facts: dict[str, Any] = {
            "project": "mine",
            "module": module,
            "recipe": "0" * 24,
            "build": "1" * 24,
            "device": "cuda",
            "variant": "release",
            "archs": ("8.0", "9.0a"),
            "toolchain": {"nvcc": "13.0"},
            "ffi_abi": ffi_abi(),
            "cudart": 13,
            "inputs": {},
            "flags": {},
            "parameters": {},
            "files": {MODULE: FileStamp.of(path)},
            "fictl": "0.1.0",
            "created": 1.0,
            "seconds": 1.0,
            "peak_kib": 1,
            "platform": str(here()),
        }
        manifest = Manifest(**{**facts, **changes})
        return document_of(manifest, {}, "a test"), content

    return make


@pytest.fixture
def folder(tmp_path: Path) -> ArtifactsFolder:
    return ArtifactsFolder.at(tmp_path / "artifacts")


@pytest.fixture
def freeze(folder: ArtifactsFolder, build: Make) -> Callable[..., Signed]:
    """Put builds into the folder and write a snapshot of them, signed if there is a key."""

    def make(name: str = "2026.11", *builds: tuple[Document, bytes], at: float = NOON) -> Signed:
        from fictl.trust.secret_key import signing_key

        chosen = builds or (build("norm.rms"), build("rope.apply"))
        folder.make()
        for document, content in chosen:
            if folder.entry(document) is None:
                fill = lambda name, target, data=content: target.write_bytes(data)  # noqa: E731
                folder.put(document, {}, fill)
        signed = Signed(make_snapshot(name, [document for document, _ in chosen], at), own=True)
        secret = signing_key()
        signed = signed.signed_with(secret) if secret else signed
        folder.save(signed)
        return signed

    return make


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder that others may write: only signatures count there."""
    path = tmp_path / "repository"
    path.mkdir()
    path.chmod(0o775)
    return path


@pytest.fixture
def pushed(
    freeze: Callable[..., Signed], key: SecretKey, folder: ArtifactsFolder, repository: Path
) -> Callable[..., Signed]:
    """Freeze, sign and push a snapshot."""

    def make(name: str = "2026.11", *builds: tuple[Document, bytes], at: float = NOON) -> Signed:
        signed = freeze(name, *builds, at=at)
        push(name, signed.snapshot.sha256, repository.as_uri(), folder, Watch())
        return signed

    return make


@pytest.fixture
def machine(tmp_path: Path) -> ArtifactsFolder:
    """The folder of another machine."""
    return ArtifactsFolder.at(tmp_path / "machine")
