"""A recorded module of the tiny project, whose build is in the cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.builds.building import specs_of
from fictl.jit.needed import record_needed
from fictl.jit.store.entry import Entry
from fictl.sealed import seal, unseal


@pytest.fixture
def warmup_file(twice_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "warmup.jsonl"
    monkeypatch.setenv("FICTL_WARMUP_RECORD", str(path))
    record_needed(specs_of(["twice"])[0], Entry.read(twice_build))
    monkeypatch.delenv("FICTL_WARMUP_RECORD")
    return path


@pytest.fixture
def changed(warmup_file: Path) -> Callable[..., Path]:
    """Rewrite the line with other values, and a seal that fits them."""

    def change(**values: Any) -> Path:
        line = unseal(warmup_file.read_text().strip())
        warmup_file.write_text(seal({**line, **values}) + "\n")
        return warmup_file

    return change
