"""What is built from a checkout: an sdist, from it a wheel, and that wheel installed elsewhere."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fictl.project import Project
from fictl.project.facade_stub import stub
from fictl.toolchain import find_nvcc
from fictl.version import VERSION

ROOT = Path(__file__).resolve().parents[1]
CONTENT = [name for name in ("kernels", "templates", "skills") if (ROOT / name).is_dir()]
# Why: git must not read the settings of whoever runs the tests, nor look for a repository above.
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def run(*argv: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(argv, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def editable() -> bool:
    """Whether this Python has fictl installed in place."""
    try:
        origin = importlib.metadata.distribution("fictl").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return False
    return origin is not None and json.loads(origin).get("dir_info", {}).get("editable", False)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of its own with the files of this one, and litter that must stay out."""
    copy = tmp_path_factory.mktemp("packaging") / "checkout"
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    run("git", "init", "--quiet", cwd=copy, **GIT)
    run("git", "add", "--all", cwd=copy, **GIT)
    run("git", "commit", "--quiet", "--message=all", cwd=copy, **GIT)
    for folder in ("fictl", "kernels", "kernels/include"):
        (copy / folder / "__pycache__").mkdir(exist_ok=True)
        (copy / folder / "__pycache__" / "litter.pyc").touch()
    return copy


@pytest.fixture(scope="module")
def commit(checkout: Path) -> str:
    return run("git", "rev-parse", "HEAD", cwd=checkout)


@pytest.fixture(scope="module")
def dist(checkout: Path) -> Path:
    """The folder of the sdist and of the wheel that was built from it."""
    run(sys.executable, "-m", "build", "--no-isolation", cwd=checkout)
    return checkout / "dist"


@pytest.fixture(scope="module")
def sdist(dist: Path) -> set[str]:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


@pytest.fixture(scope="module")
def wheel(dist: Path) -> set[str]:
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps")
    run(*pip, "--target", site, next(dist.glob("*.whl")), cwd=dist)
    return site


def python(installed: Path, *words: str) -> str:
    """Run Python outside every checkout, with the installed wheel before anything else."""
    return run(sys.executable, *words, cwd=installed.parent, PYTHONPATH=str(installed))


def test_the_wheel_brings_one_top_level_name(wheel: set[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert tops == {"fictl", f"fictl-{VERSION}.dist-info"}


@pytest.mark.parametrize("folder", CONTENT)
def test_the_wheel_holds_every_content_file(folder: str, checkout: Path, wheel: set[str]) -> None:
    tracked = run("git", "ls-files", "-z", folder, cwd=checkout).split("\0")
    assert {f"fictl/data/{name}" for name in tracked if name} <= wheel


def test_the_wheel_holds_every_module_of_the_package(checkout: Path, wheel: set[str]) -> None:
    tracked = run("git", "ls-files", "-z", "fictl", cwd=checkout).split("\0")
    assert {name for name in tracked if name} <= wheel


# What a package is imported as, where that is not its name.
IMPORTED_AS = {
    "apache_tvm_ffi": "tvm_ffi",
    "gitpython": "git",
    "nvidia_cutlass_dsl": "cutlass",
    "pyelftools": "elftools",
    "pyyaml": "yaml",
}
# gdb brings its own; what is an extra is asked for where it is missing.
BROUGHT = {"gdb"}


def test_what_fictl_imports_is_a_dependency_of_a_plain_install_or_an_extra(dist: Path) -> None:
    """What is not an extra is there after `pip install fictl`: pytest too, for `fictl test`."""
    needed, extra = requirements(next(dist.glob("*.whl")))
    assert needed <= imported_by_fictl()  # Nothing is installed that nothing uses.
    missing = imported_by_fictl() - needed - BROUGHT
    agents, arrays = {"anyio", "jsonschema", "mcp"}, {"jax", "jax_tvm_ffi", "ml_dtypes"}
    assert missing == {"cryptography", "cutlass", "obstore", "ray", "triton", *agents, *arrays}
    assert missing <= extra


def requirements(wheel: Path) -> tuple[set[str], set[str]]:
    """What a plain install brings, and what extras do, as they are imported."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith("/METADATA"))
        lines = archive.read(name).decode().splitlines()
    said = [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]
    plain = {_imported_as(line) for line in said if "extra ==" not in line}
    return plain, {_imported_as(line) for line in said if "extra ==" in line}


def _imported_as(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    normal = name[0].lower().replace("-", "_")
    return IMPORTED_AS.get(normal, normal)


def imported_by_fictl() -> set[str]:
    names = {
        name
        for path in (ROOT / "fictl").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _names(node)
    }
    return {name.partition(".")[0] for name in names} - {"fictl", *sys.stdlib_module_names}


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def test_no_compiled_python_is_packed(wheel: set[str], sdist: set[str]) -> None:
    assert not [name for name in wheel | sdist if name.endswith(".pyc")]


def test_the_sdist_can_be_tested(sdist: set[str]) -> None:
    assert {"Makefile", "constraints.txt", "tests/test_packaging.py", "LICENSE"} <= sdist


def test_the_sdist_carries_the_commit(dist: Path, commit: str) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        recorded = archive.extractfile(f"fictl-{VERSION}/fictl/commit.txt")
        assert recorded is not None
        assert recorded.read().decode().strip() == commit


def test_building_leaves_the_source_tree_as_it_was(checkout: Path, dist: Path) -> None:
    assert dist.is_dir()
    assert run("git", "status", "--porcelain", cwd=checkout) == ""


def test_an_installed_fictl_says_its_version_and_commit(installed: Path, commit: str) -> None:
    said = python(installed, "-m", "fictl", "--version")
    assert said == f"fictl {VERSION} (commit {commit[:7]})"


def test_the_package_knows_them_too(installed: Path, commit: str) -> None:
    code = "import fictl; print(fictl.__version__, fictl.__commit__)"
    assert python(installed, "-c", code) == f"{VERSION} {commit}"


def test_the_wheel_brings_the_types_of_its_ops(installed: Path) -> None:
    assert (installed / "fictl/ops.pyi").read_text() == stub(Project.shipped())


def test_an_installed_fictl_finds_its_kernels(installed: Path) -> None:
    code = "from fictl.paths import data_root; print(data_root('kernels'))"
    assert python(installed, "-c", code) == str(installed / "fictl" / "data" / "kernels")


def test_an_installed_op_can_be_imported(installed: Path) -> None:
    kernels = installed / "fictl" / "data" / "kernels"
    names = [".".join(path.parts[-3:-1]) for path in kernels.glob("*/*/op.py")]
    code = f"import fictl.kernels.{names[0]}.op as op; print(op.__file__)"
    assert python(installed, "-c", code).startswith(str(kernels))


def test_the_console_script_runs(installed: Path, commit: str) -> None:
    said = run(installed / "bin" / "fictl", "--version", cwd=installed, PYTHONPATH=str(installed))
    assert commit[:7] in said


@pytest.mark.skipif(not editable(), reason="fictl is not installed here; `make test` does it")
def test_an_editable_installation_is_this_checkout(tmp_path: Path) -> None:
    code = "import fictl, fictl.kernels; print(fictl.__file__, *fictl.kernels.__path__)"
    said = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH="")
    assert said == f"{ROOT / 'fictl' / '__init__.py'} {ROOT / 'kernels'}"


def test_a_checkout_asks_git(checkout: Path, commit: str) -> None:
    code = "from fictl.version import commit; print(commit())"
    assert run(sys.executable, "-c", code, cwd=checkout, PYTHONPATH=str(checkout)) == commit


def test_without_git_the_commit_is_unknown(checkout: Path) -> None:
    code = "from fictl.version import describe; print(describe())"
    said = run(sys.executable, "-c", code, cwd=checkout, PYTHONPATH=str(checkout), PATH="")
    assert said == f"fictl {VERSION}"


def test_a_copy_inside_another_repository_has_not_its_commit(
    checkout: Path, tmp_path: Path
) -> None:
    run("git", "init", "--quiet", cwd=tmp_path, **GIT)
    run("git", "commit", "--quiet", "--allow-empty", "--message=other", cwd=tmp_path, **GIT)
    shutil.copytree(checkout / "fictl", tmp_path / "copy" / "fictl")
    code = "from fictl.version import commit; print(repr(commit()))"
    copy = tmp_path / "copy"
    assert run(sys.executable, "-c", code, cwd=copy, PYTHONPATH=str(copy)) == "''"


def test_the_version_is_written_once(checkout: Path) -> None:
    quoted = f"['\"]{re.escape(VERSION)}['\"]"
    found = run(
        "git", "grep", "--name-only", "-E", quoted, "--", ":!tests", ":!docs/results", cwd=checkout
    )
    assert found == "fictl/version.py"


def test_an_extra_asks_an_index_for_what_it_brings_alone(dist: Path, tmp_path: Path) -> None:
    """Where fictl is installed, as errors of it can know: `pip install "fictl[remote]"`, without any index."""
    python = environment(tmp_path, [next(dist.glob("fictl-*.whl"))])
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--dry-run", "--no-index")
    said = run(*pip, "fictl[remote]", cwd=tmp_path)
    assert "Requirement already satisfied: fictl[remote]" in said


def environment(folder: Path, wheels: list[Path]) -> Path:
    """An environment with these wheels and the dependencies of this one; its Python."""
    make = runpy.run_path(str(ROOT / "tests" / "gpu" / "wheel_alone.py"))["make_environment"]
    python: Path = make(folder / "environment", wheels)
    return python


@pytest.mark.needs_nvcc
@pytest.mark.timeout(900)
def test_the_demo_runs_from_a_wheel_in_an_environment_of_its_own(
    dist: Path, tmp_path: Path, users_cache: None
) -> None:
    """As `uvx fictl demo` does it: nobody has activated the environment, and nothing is beside it."""
    python = environment(tmp_path, [next(dist.glob("fictl-*.whl"))])
    path = os.pathsep.join(("/usr/bin", "/bin", str(Path(find_nvcc().path).parent)))
    env = {**os.environ, "PATH": path, "PYTHONPATH": ""}
    done = subprocess.run(
        [python.with_name("fictl"), "demo"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"^\$ fictl (\S+)", done.stderr, re.MULTILINE)
    assert shown == ["init", "new-op", "build", "test", "sanitize"]
    assert "✓ elementwise.swish" in done.stderr
    assert "0 defects" in done.stderr


def installers() -> list[str]:
    return ["pip", *(["uv"] if shutil.which("uv") else [])]


def prebuilt(folder: Path, *words: str, cwd: Path) -> Path:
    """The wheel of emulated modules that a project makes; the runtime may be in the user's cache."""
    command = (sys.executable, "-m", "fictl", "aot", "wheel", *words, "--device", "emu")
    run(*command, "--out", folder, cwd=cwd)
    (wheel,) = folder.glob("*_prebuilt_emu-*.whl")
    return wheel


def alone(tmp_path: Path, op: str, wheels: Iterable[Path], installer: str = "pip") -> Any:
    """Run an op in an environment of Python, torch and these wheels, without a compiler."""
    program, saved = ROOT / "tests" / "gpu" / "wheel_alone.py", tmp_path / "alone.json"
    words = ("--ops", op, "--device", "emu", "--installer", installer, "--save", saved)
    run(sys.executable, program, *wheels, *words, cwd=tmp_path)
    result = json.loads(saved.read_text())
    assert (result["not_loaded"], result["elsewhere"], result["compiled"]) == ({}, [], [])
    assert [row["problem"] for row in result["ops"]] == [""] * len(result["ops"])
    return result


@pytest.mark.parametrize("installer", installers())
def test_with_python_torch_and_wheels_alone_ops_run(
    dist: Path, tmp_path: Path, users_cache: None, commit: str, installer: str
) -> None:
    wheels = [next(dist.glob("fictl-*.whl")), prebuilt(tmp_path, "scale", cwd=ROOT)]
    result = alone(tmp_path, "scale", wheels, installer)
    assert (result["modules"], [row["op"] for row in result["ops"]]) == (1, ["scale"])
    assert result["fictl"].endswith(f"(commit {commit[:7]})")


def test_a_users_project_ships_its_ops_in_the_same_way(
    dist: Path, tmp_path: Path, users_cache: None
) -> None:
    mine = tmp_path / "mine"
    run(sys.executable, "-m", "fictl", "init", mine, cwd=tmp_path)
    new_op = ("new-op", "twofold", "--family", "own", "--expr", "x * factor")
    run(sys.executable, "-m", "fictl", *new_op, cwd=mine)
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", cwd=mine)
    wheel = prebuilt(tmp_path / "out", cwd=mine)
    assert wheel.name.startswith("mine_prebuilt_emu-0.0.1-py3-none-manylinux_2_")
    wheels = [next(dist.glob("fictl-*.whl")), *mine.glob("dist/*.whl"), wheel]
    result = alone(tmp_path, "mine/twofold", wheels)
    assert (result["modules"], [row["op"] for row in result["ops"]]) == (1, ["twofold"])


def test_in_place_type_checkers_find_the_package(checkout: Path, tmp_path: Path) -> None:
    """They run no import hook: a path leads them to `fictl-stubs`, which Python cannot import."""
    build = f"from setuptools import build_meta; build_meta.build_editable({str(tmp_path)!r})"
    run(sys.executable, "-c", build, cwd=checkout)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        (line,) = archive.read("__editable__.fictl_types.pth").decode().splitlines()
    stubs = Path(line) / "fictl-stubs"
    assert [*Path(line).iterdir()] == [stubs]
    assert (stubs / "__init__.pyi").resolve() == checkout / "fictl" / "__init__.py"
    assert (stubs / "py.typed").is_file()
    assert (stubs / "ops.pyi").read_text(encoding="utf-8") == stub(Project.shipped())
    assert (stubs / "op").resolve() == checkout / "fictl" / "op"
