"""A cache with one build in it, which nobody compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.jit.store import use
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import writable_store


@pytest.fixture
def cached(
    fake_build: Callable[..., Entry], repo: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """Add a build of a module of the project `repo`."""
    monkeypatch.setattr(use, "_held", {})

    def add(module: str = "elementwise.halve", name: str = "build", **facts: object) -> Path:
        folder = writable_store().recipe_dir("my_kernels", module, "recipe") / name
        return fake_build(folder, project="my_kernels", module=module, **facts).path

    return add
