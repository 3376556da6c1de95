"""An op from a folder that was built ahead of time, where no compiler is in sight."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fictl
from fictl.toolchain import require_nvcc

from ..cudart import put_cudart

# Also /usr/local and PyPI packages: PATH alone does not hide every toolkit.
_WITHOUT_TOOLKIT = """
from fictl.op.folder_specs import folder_specs
from fictl.toolchain import search
search._ROOTS, search._wheels = (), lambda: ()
from fictl.toolchain import find_nvcc
assert find_nvcc() is None
"""
_LOAD = """
from fictl.project import find
assert folder_specs(find("scale")[0])[0].try_load() is not None
"""
_CALL = """
import torch, fictl
x = torch.arange(1000, device="cuda", dtype=torch.float32)
assert torch.equal(fictl.ops.scale(x, 2.0), x * 2.0)
"""


@pytest.fixture(scope="module")
def prebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("aot") / "prebuilt"
    command = [sys.executable, "-m", "fictl", "aot", "build", "scale", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


def _run(code: str, prebuilt: Path, home: Path) -> None:
    site = (
        prebuilt.parent / "site"
    )  # Where torch of this CUDA, which may not be here, has the runtime.
    put_cudart(site / "nvidia" / "cuda_runtime" / "lib", require_nvcc().cudart_major)
    env = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_HOME")}
    env |= {
        "PATH": str(home),
        "FICTL_DEVICE": "cuda",
        "FICTL_STORES": str(prebuilt),
        "FICTL_WORKSPACE_BASE": str(home),
        "PYTHONPATH": os.pathsep.join([str(Path(fictl.__file__).parents[1]), *sys.path, str(site)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_TOOLKIT + code], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert list(home.iterdir()) == []


@pytest.mark.needs_nvcc
def test_it_loads_and_nothing_is_written(prebuilt: Path, tmp_path: Path) -> None:
    _run(_LOAD, prebuilt, tmp_path)


@pytest.mark.needs_nvcc
@pytest.mark.needs_gpu
def test_it_computes_on_a_gpu(prebuilt: Path, tmp_path: Path) -> None:
    _run(_CALL, prebuilt, tmp_path)


def test_every_function_has_a_case_that_wheels_serve() -> None:
    """The first module that a call asks for is looked up; those after it, only on a GPU."""
    command = [sys.executable, str(Path(__file__).with_name("modules_asked_for.py"))]
    env = {**os.environ, "FICTL_DEVICE": "emu"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) > 100
    assert [line for line in lines if not line.endswith(" BuiltAhead: ")] == []
