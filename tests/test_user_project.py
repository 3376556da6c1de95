"""A user's own project works like the shipped one, from any folder of it, and nothing is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fictl
from fictl.paths import data_root

SHIPPED = data_root("kernels")
RENAMED = (
    ("scale", "stretch"),
    ("Scale", "Stretch"),
    ("fictl/elementwise/", "my_kernels/elementwise/"),
    ("fictl::elementwise", "my_kernels::elementwise"),
    # From outside of `fictl`, its names have to be asked for.
    (
        "namespace my_kernels::elementwise {",
        "namespace my_kernels::elementwise {\nusing namespace fictl;",
    ),
)


def renamed(text: str) -> str:
    for old, new in RENAMED:
        text = text.replace(old, new)
    return text


def everything(folder: Path) -> dict[Path, int]:
    """Files and when they changed; what Python caches beside them is its own."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {path: path.stat().st_mtime_ns for path in files}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """`my_kernels` with one op, a copy of the shipped scale under another name."""
    root = tmp_path / "my_project"
    kernels = root / "kernels"
    folder = kernels / "elementwise" / "stretch"
    shutil.copytree(
        SHIPPED / "elementwise" / "scale", folder, ignore=shutil.ignore_patterns("__pycache__")
    )
    header = kernels / "include" / "my_kernels" / "elementwise" / "stretch.cuh"
    header.parent.mkdir(parents=True)
    shutil.copy(SHIPPED / "include" / "fictl" / "elementwise" / "scale.cuh", header)
    for path in (*folder.iterdir(), header):
        path.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")
    test = root / "tests" / "kernels" / "elementwise" / "test_stretch.py"
    test.parent.mkdir(parents=True)
    test.write_text("def test_it() -> None: ...\n", encoding="utf-8")
    (root / "fictl.toml").write_text('name = "my_kernels"\narchs = "8.0"\n', encoding="utf-8")
    return root


@pytest.fixture
def run(project: Path, tmp_path: Path):
    """Run Python in a sub-folder of the project, as `fictl` or with a script of its own."""

    def run(*words: str) -> str:
        path = os.pathsep.join(
            [str(Path(fictl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        )
        done = subprocess.run(
            [sys.executable, *words],
            cwd=project / "kernels" / "elementwise",
            env={**os.environ, "PYTHONPATH": path, "HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_list_shows_it_beside_the_shipped_ops(run) -> None:
    rows = json.loads(run("-m", "fictl", "list", "--json"))["data"]
    found = {row["function"]: row["project"] for row in rows}
    assert (found["stretch"], found["scale"]) == ("my_kernels", "fictl")


def test_where_shows_its_files(run, project: Path) -> None:
    lines = run("-m", "fictl", "where", "stretch").splitlines()
    assert lines[0] == "my_kernels/elementwise/stretch"
    assert any(
        line.endswith("/kernels/include/my_kernels/elementwise/stretch.cuh") for line in lines
    )
    assert any(line.endswith("/tests/kernels/elementwise/test_stretch.py") for line in lines)


def test_it_keeps_the_rules_that_the_shipped_ops_keep(run) -> None:
    assert "every rule holds" in run("-m", "fictl", "check")


@pytest.mark.needs_nvcc
def test_it_builds_and_nothing_but_the_cache_is_written(run, project: Path) -> None:
    before = everything(project), everything(SHIPPED)
    (built,) = json.loads(run("-m", "fictl", "build", "--arch", "8.0", "--json"))["data"]
    assert (built["project"], built["module"]) == ("my_kernels", "elementwise.stretch")
    assert (built["archs"], built["compiled"]) == (["8.0"], True)
    assert (everything(project), everything(SHIPPED)) == before


def test_its_functions_are_imported_where_they_lie(run) -> None:
    assert (
        run(
            "-c",
            "from pathlib import Path\n"
            "from fictl.project import Project, mount\n"
            "mount(Project.at(Path('.')))\n"
            "import fictl.ops, my_kernels\n"
            "from my_kernels.elementwise.stretch.op import stretch\n"
            "assert my_kernels.ops.stretch is stretch is not fictl.ops.scale\n"
            "print(stretch.op.name, dir(my_kernels.ops))\n",
        )
        == "stretch ['stretch']\n"
    )


def test_a_call_on_the_wrong_device_is_refused_in_its_name(run) -> None:
    said = run(
        "-c",
        "import torch\n"
        "from fictl.project import mount\n"
        "mount()\n"
        "import my_kernels\n"
        "try: my_kernels.ops.stretch(torch.ones(4), 2.0)\n"
        "except ValueError as error: print(error)\n",
    )
    assert said.startswith("stretch: argument 'input' is on cpu, but this build takes CUDA tensors")
