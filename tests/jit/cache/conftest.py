"""A cache with builds, and with what builds leave behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.jit.store import use
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(use, "_held", {})
    return Store(tmp_path / "cache", writable=True)


@pytest.fixture
def add(store: Store, fake_build: Callable[..., Entry]) -> Callable[..., Path]:
    """A build of a module, last used at a time."""

    def build(
        module: str = "norm.rms", name: str = "b", used: float = 1e9, **facts: object
    ) -> Path:
        folder = store.recipe_dir("mine", module, f"r-{name}") / name
        facts = {"project": "mine", "module": module, **facts}
        entry = fake_build(folder, **facts)
        os.utime(entry.path, (used, used))
        return entry.path

    return build


@pytest.fixture
def put(store: Store) -> Callable[..., Path]:
    """A file below the cache's layout folder, last used at a time."""

    def write(path: str, content: bytes = b"1234", used: float = 1e9) -> Path:
        file = store.root / "v1" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        os.utime(file, (used, used))
        return file

    return write
