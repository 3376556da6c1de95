"""What `fictl test` costs beside the pytest that it runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sample import Pair, interleave, timed

ROOT = Path(__file__).resolve().parents[2]
_TEST = "def test_nothing() -> None:\n    pass\n"


def overhead() -> Pair:
    """The same tests of one small op: its own one, beside the generated ones that are collected."""
    with tempfile.TemporaryDirectory() as folder:
        project = shutil.copytree(ROOT / "tests" / "tiny_project", Path(folder) / "tiny")
        own = project / "tests" / "kernels" / "elementwise" / "test_twice.py"
        own.parent.mkdir(parents=True)
        own.write_text(_TEST, encoding="utf-8")
        chosen = ("-k", "test_nothing")
        ours = [sys.executable, "-m", "fictl", "test", "twice", "--device", "cuda", *chosen]
        bare = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "fictl.testing.plugin",
            "--fictl-op=twice",
            "-q",
            "-p",
            "no:cacheprovider",
            "--import-mode=importlib",
            f"--rootdir={project}",
            *chosen,
            str(own),
            str(ROOT / "fictl" / "testing" / "generated" / "contract.py"),
        ]
        return interleave(lambda: _process(ours, project), lambda: _process(bare, project), 5)


def _process(argv: list[str], cwd: Path) -> float:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    # Else the working folder, and with it a folder named kernels, comes first.
    env = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "FICTL_DEVICE": "cuda"}
    return timed(lambda: subprocess.run(argv, cwd=cwd, env=env, check=True, capture_output=True))
