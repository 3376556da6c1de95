"""Hugging Face's `kernels` package: the one that is installed, or one that pip puts into a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from filelock import FileLock

PINNED = "kernels==0.17.2"
_SECONDS = 240

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def kernels_package(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder to put on PYTHONPATH. This environment is not changed."""
    try:
        return str(metadata.distribution("kernels").locate_file(""))
    except metadata.PackageNotFoundError:
        pass
    shared = tmp_path_factory.getbasetemp().parent
    folder, why = shared / "hf_kernels", shared / "hf_kernels.txt"
    with FileLock(shared / "hf_kernels.lock"):
        if not why.exists():
            why.write_text(_installed_into(folder))
    if reason := why.read_text():
        pytest.skip(f"{PINNED} is not installed, and pip could not: {reason}")
    return str(folder)


def _installed_into(folder: Path) -> str:
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), PINNED]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no answer within {_SECONDS} s"
    last = done.stderr.strip().rpartition("\n")[2]
    return (last or f"exit code {done.returncode}") if done.returncode else ""


@pytest.fixture
def with_kernels(kernels_package: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run Python code where `kernels` is that package: a checkout of fictl has such a folder, too."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    def run(code: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
        hidden = ("PYTHONPATH", "FICTL_DEVICE")
        env = {name: value for name, value in os.environ.items() if name not in hidden}
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, words)],
            cwd=elsewhere,
            env={**env, "PYTHONPATH": kernels_package, "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run
