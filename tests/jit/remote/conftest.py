"""A remote in a folder, a key to sign with, and another machine: an empty cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl import log, settings
from fictl.jit.remote import breaker
from fictl.jit.remote.document import document_of
from fictl.jit.remote.mark import require_ours
from fictl.jit.remote.push import Sent, key_for, own_keys, push
from fictl.jit.remote.url import open_bucket
from fictl.jit.remote.vouched import signed
from fictl.jit.store.entry import Entry
from fictl.trust import keys_file
from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey


@pytest.fixture(autouse=True)
def _nothing_is_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(breaker, "_down", {})
    monkeypatch.setenv(settings.TRUST.name, str(tmp_path / "trust.toml"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The folder of a remote that others can write: only signatures count there."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o775)
    return folder


@pytest.fixture
def url(place: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(settings.REMOTE.name, f"file://{place}")
    return f"file://{place}"


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SecretKey:
    """A signing key, which is trusted."""
    secret = SecretKey.generate()
    path = tmp_path / "secret.key"
    path.write_text(secret.text())
    path.chmod(0o600)
    monkeypatch.setenv(settings.SIGNING_KEY.name, str(path))
    keys_file.add(TrustedKey("ci", secret.public))
    return secret


@pytest.fixture
def send() -> Callable[[Entry, str], Sent]:
    """Push a build as `fictl cache push` does."""

    def to(entry: Entry, url: str) -> Sent:
        bucket = open_bucket(url)
        own = key_for(bucket)
        require_ours(bucket)
        document = document_of(entry.manifest, {}, "a test")
        return push(bucket, signed(document, own), entry.path, own_keys(own))

    return to


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Become another machine: with an empty cache, and nothing warned about yet."""

    def become(name: str = "elsewhere") -> None:
        monkeypatch.setenv(settings.WORKSPACE_BASE.name, str(tmp_path / name))
        log.warn_once.cache_clear()

    return become
