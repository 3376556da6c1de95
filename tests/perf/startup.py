"""How long the command line takes to say something."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from sample import Pair, interleave, timed


def help_text() -> Pair:
    ours = [sys.executable, "-m", "fictl", "--help"]
    yardstick = [sys.executable, "-c", "import typer"]
    return interleave(lambda: _process(ours), lambda: _process(yardstick), 11)


def list_80() -> Pair:
    with tempfile.TemporaryDirectory() as folder:
        project = _project_of_80(Path(folder))
        ours = [sys.executable, "-m", "fictl", "list"]
        return interleave(lambda: _process(ours, project), lambda: 0.0, 11)


def _process(argv: list[str], cwd: Path | None = None) -> float:
    root = str(Path(__file__).resolve().parents[2])
    # With bytecode, as installed: the first sample writes it, the median reads it.
    path = os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": tempfile.gettempdir()}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return timed(
        lambda: subprocess.run(argv, cwd=cwd, env=env, check=True, stdout=subprocess.DEVNULL)
    )


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
