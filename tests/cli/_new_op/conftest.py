"""A project to scaffold into."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / "kernels").mkdir(parents=True)
    (root / "fictl.toml").write_text('name = "my_kernels"\n', encoding="utf-8")
    monkeypatch.chdir(root)
    return root
