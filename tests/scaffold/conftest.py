"""Scripts of this folder are imported by its tests; projects to write into."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fictl.project import Project

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A new one, with no op, where the test stands."""
    root = tmp_path / "project"
    (root / "kernels").mkdir(parents=True)
    (root / "fictl.toml").write_text('name = "my_kernels"\n')
    monkeypatch.chdir(root)
    return Project.at(root)
