"""A fresh project is a package like any other: in place, as a wheel, and from its sdist."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import fictl
from fictl.project import Project
from fictl.project.facade_stub import refresh_stub
from fictl.scaffold.plan.write import apply
from fictl.scaffold.project.init import plan_init

TESTS = Path(__file__).parents[2]
SHOW = (
    "import sys, my_kernels\n"
    "from my_kernels.ops import twice\n"
    "assert my_kernels.ops.twice is twice\n"
    "from fictl.project import OpFolder\n"
    "print(*dir(my_kernels.ops), OpFolder.of(sys.modules[twice.__module__].__file__).path)\n"
)


def run(*words: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the op of tiny_project, and litter that must stay out."""
    root = tmp_path_factory.mktemp("installed") / "my_kernels"
    apply(plan_init(root), "fictl init")
    for name in ("kernels/elementwise", "kernels/include/tiny"):
        copy = root / name.replace("tiny", "my_kernels")
        shutil.copytree(TESTS / "tiny_project" / name, copy)
        for path in (path for path in copy.rglob("*") if path.is_file() and path.suffix != ".pyc"):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace("tiny", "my_kernels"), encoding="utf-8")
    refresh_stub(Project.at(root))
    cached = root / "kernels" / "elementwise" / "twice" / "__pycache__"
    cached.mkdir(exist_ok=True)
    (cached / "litter.pyc").touch()
    return root


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an environment of its own, which sees what this one does."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    seen = [str(Path(fictl.__file__).parents[1]), *site.getsitepackages(), *filter(None, sys.path)]
    (packages / "seen.pth").write_text("\n".join(seen) + "\n", encoding="utf-8")
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def dist(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel that was built from it."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, cwd=project)
    return out


def pip(python: Path, *words: str | Path, cwd: Path) -> None:
    quiet = ("--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    run(sys.executable, "-m", "pip", "--python", python, "install", *quiet, *words, cwd=cwd)


def test_in_place_it_is_imported_from_anywhere(project: Path, python: Path, tmp_path: Path) -> None:
    pip(python, "--editable", project, cwd=tmp_path)
    try:
        said = run(python, "-c", SHOW, cwd=tmp_path, PYTHONPATH="")
        assert said == f"twice {project / 'kernels' / 'elementwise' / 'twice'}"
        listed = run(python, "-m", "fictl", "list", cwd=tmp_path, PYTHONPATH="")
        assert "my_kernels" in listed
        _see_types(python, tmp_path)
    finally:
        uninstall = ("uninstall", "--quiet", "--yes", "my-kernels")
        run(sys.executable, "-m", "pip", "--python", python, *uninstall, cwd=tmp_path)


def _see_types(python: Path, folder: Path) -> None:
    """A type checker in another folder knows the ops of an installation in place."""
    pytest.importorskip("mypy")
    program = folder / "program.py"
    program.write_text(
        "import my_kernels\nreveal_type(my_kernels.ops.twice)\nmy_kernels.ops.thrice\n"
    )
    settings = "[mypy]\n[mypy-fictl.*,torch.*]\nfollow_imports = skip\n"
    (folder / "mypy.ini").write_text(settings)
    words = ["--python-executable", python, "--cache-dir", os.devnull, "program.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert 'Revealed type is "def (' in done.stdout, done.stdout + done.stderr
    assert 'Module has no attribute "thrice"' in done.stdout
    assert "Found 1 error" in done.stdout


def test_the_wheel_brings_one_top_level_name(dist: Path) -> None:
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert tops == {"my_kernels", "my_kernels-0.0.1.dist-info"}


def test_the_wheel_holds_the_kernels_and_what_the_project_is_called(
    project: Path, dist: Path
) -> None:
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as archive:
        packed = {name for name in archive.namelist() if "dist-info" not in name}
    files = {path.relative_to(project) for path in (project / "kernels").rglob("*.*")}
    sources = {f"my_kernels/{path}" for path in files if path.suffix != ".pyc"}
    own = ("__init__.py", "fictl.toml", "ops.pyi", "py.typed")
    assert packed == sources | {f"my_kernels/{name}" for name in own}


def test_the_sdist_holds_no_compiled_python(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        assert not [name for name in archive.getnames() if name.endswith(".pyc")]


def test_a_wheel_is_found_where_it_lies_even_inside_another_project(
    dist: Path, python: Path, tmp_path: Path
) -> None:
    (tmp_path / "fictl.toml").write_text('name = "other"\n', encoding="utf-8")
    (tmp_path / "kernels").mkdir()
    place = tmp_path / ".venv" / "site-packages"
    pip(python, "--target", place, next(dist.glob("*.whl")), cwd=tmp_path)
    said = run(python, "-c", SHOW, cwd=tmp_path, PYTHONPATH=str(place))
    assert said == f"twice {place / 'my_kernels' / 'kernels' / 'elementwise' / 'twice'}"
    listed = run(python, "-m", "fictl", "list", cwd=tmp_path, PYTHONPATH=str(place))
    assert "my_kernels" in listed


def test_a_wheel_s_op_computes(dist: Path, python: Path, tmp_path: Path, users_cache: None) -> None:
    pip(python, "--target", tmp_path, next(dist.glob("*.whl")), cwd=tmp_path)
    code = "import my_kernels; print(my_kernels.ops.twice(21))"
    env = {"PYTHONPATH": str(tmp_path), "FICTL_DEVICE": "emu"}
    assert run(python, "-c", code, cwd=tmp_path, **env) == "42"
