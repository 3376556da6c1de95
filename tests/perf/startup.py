"""How long the command line takes to say something."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from sample import Pair, interleave
from yardsticks import import_typer, process

_TYPED = {"_FICTL_COMPLETE": "complete_bash", "COMP_WORDS": "fictl cache p", "COMP_CWORD": "2"}


def command(*words: str) -> Pair:
    """A command that imports itself alone, or the overview of all, which imports none."""
    ours = [sys.executable, "-m", "fictl", *words]
    return interleave(lambda: process(ours), import_typer, 11)


def completion() -> Pair:
    with patch.dict(os.environ, _TYPED):
        return command()


def list_80() -> Pair:
    """With an empty cache: builds that are there cost a look at each of their sources."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        project = _project_of_80(Path(folder))
        ours = [sys.executable, "-m", "fictl", "list"]
        with patch.dict(os.environ, FICTL_WORKSPACE_BASE=cache):
            return interleave(lambda: process(ours, project), import_typer, 11)


def _project_of_80(root: Path) -> Path:
    """80 copies of scale under other names; only what `list` reads."""
    from fictl.paths import data_root

    (root / "fictl.toml").write_text('name = "eighty"\n')
    declared = (data_root("kernels") / "elementwise/scale/op.py").read_text()
    for index in range(80):
        folder = root / "kernels" / f"family{index // 8}" / f"op{index}"
        folder.mkdir(parents=True)
        (folder / "op.py").write_text(declared.replace("def scale", f"def op{index}"))
    return root
