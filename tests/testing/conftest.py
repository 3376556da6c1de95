"""pytest run as users run it: in a process and a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fictl


@pytest.fixture
def run_pytest(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `text` as a test file of a project, with the plugin."""

    def run(text: str, *words: str, cwd: Path | None = None, **changes: str):
        file = tmp_path / "suite" / "test_it.py"
        file.parent.mkdir(exist_ok=True)
        (file.parent / "fictl.toml").write_text('name = "suite_of_tests"\n', encoding="utf-8")
        file.write_text(text, encoding="utf-8")
        path = os.pathsep.join(
            [str(Path(fictl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        )
        # Without a device that is asked for, it would be the emulated one.
        env = {**os.environ, "PYTHONPATH": path, "FICTL_DEVICE": "cuda", **changes}
        env.pop("PYTEST_PLUGINS", None)
        argv = [sys.executable, "-m", "pytest", "-p", "fictl.testing.plugin", "-rs", "-v"]
        return subprocess.run(
            [*argv, "-p", "no:cacheprovider", "--strict-markers", str(file), *words],
            cwd=cwd or file.parent,
            env=env,
            capture_output=True,
            text=True,
        )

    return run
