"""Folders that no solution may read: the dataset's, those of other judges, others' inputs."""

from __future__ import annotations

import os
from pathlib import Path

from fictl.judge.process.scratch import scratch_root
from fictl.paths import FARM, cache_root

_DOCUMENTS = ("definitions", "solutions", "workloads", "traces", "blob", "reports")


def hidden_from_solutions(root: Path | None) -> tuple[Path, ...]:
    """Return the folders; of `root` only parts, as an interpreter may be installed there."""
    parts = [root / name for name in _DOCUMENTS if os.path.isdir(root / name)] if root else []
    others = cache_root().joinpath(*FARM)  # Inputs that came from another machine.
    return (*parts, scratch_root(), *([others] if os.path.isdir(others) else []))
