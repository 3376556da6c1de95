"""`import flashinfer` by fictl: a wheel in an environment of its own, by pip."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from email.parser import Parser
from pathlib import Path

import pytest

from fictl.compat.alias_wheel import DISTRIBUTION, write_alias_wheel
from fictl.errors import UsageError
from fictl.ship.wheel_file import write_wheel
from fictl.version import VERSION

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., str]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python alone; what fictl needs is found where the tests find it, below what pip installs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    brought = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    installed = (path for path in sys.path if path.endswith("site-packages"))
    paths = [str(ROOT), *filter(None, brought), *installed]
    (site(folder) / "below.pth").write_text("\n".join(paths))
    return folder


def alone() -> dict[str, str]:
    """Return the environment without what comes before an environment's own packages."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def site(environment: Path) -> Path:
    return next((environment / "lib").glob("python3*")) / "site-packages"


@pytest.fixture(scope="module")
def pip(environment: Path) -> Run:
    def run(*words: str | Path, succeeds: bool = True) -> str:
        to = ("--python", environment / "bin" / "python")
        offline = ("--no-index", "--no-deps") if words[0] == "install" else ()
        argv = (sys.executable, "-m", "pip", *to, *words, *offline)
        done = subprocess.run(argv, cwd=environment, env=alone(), capture_output=True, text=True)
        assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def python(environment: Path, code: str, succeeds: bool = True) -> str:
    argv = (environment / "bin" / "python", "-c", code)
    done = subprocess.run(argv, cwd=environment, env=alone(), capture_output=True, text=True)
    assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
    return (done.stdout if succeeds else done.stderr).strip()


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_alias_wheel(tmp_path_factory.mktemp("dist")).path


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a wheel that stands for FlashInfer itself."""
    info = "flashinfer_python-0.7.2.dist-info"
    texts = {
        "flashinfer/__init__.py": "__version__ = 'theirs'\n",
        "flashinfer/norm.py": "rmsnorm = 'theirs'\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: 0.7.2\n",
    }
    path = tmp_path_factory.mktemp("theirs") / "flashinfer_python-0.7.2-py3-none-any.whl"
    write_wheel(path, {name: text.encode for name, text in texts.items()}, 1 << 20)
    return path


def test_engines_find_the_import_and_the_distribution(environment, pip: Run, ours: Path) -> None:
    pip("install", ours)
    code = (
        "import flashinfer, flashinfer.norm, fictl.ops, importlib.metadata as m, importlib.util as u\n"
        "from flashinfer import bmm_fp8, fast_decode_plan, rmsnorm\n"
        "from flashinfer.fused_moe.core import ActivationType\n"
        "assert rmsnorm is flashinfer.norm.rmsnorm is fictl.ops.rmsnorm\n"
        "assert flashinfer.norm.__name__ == 'flashinfer.norm'\n"
        "assert not hasattr(flashinfer, 'bmm_fp8')\n"
        "assert u.find_spec('flashinfer.mla') is None\n"
        "print(flashinfer.__version__, m.version('flashinfer_python'))\n"
        "try: import flashinfer.mla\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    version, _, refusal = python(environment, code).partition("\n")
    assert version == f"0.7.2 0.7.2+fictl.{VERSION}"
    assert refusal.startswith("module 'flashinfer' has no 'mla': FlashInfer 0.7.2 has it, fictl")
    # SGLang's requirement, and one that it does not meet.
    satisfied = pip("install", "--dry-run", "flashinfer_python[cu13]==0.7.2")
    assert "already satisfied" in satisfied
    assert "does not provide the extra" not in satisfied
    assert "No matching distribution" in pip("install", "flashinfer-python==0.7.3", succeeds=False)


def test_pip_replaces_one_by_the_other_as_a_whole(environment, pip: Run, ours, theirs) -> None:
    folder = site(environment) / "flashinfer"
    pip("install", ours)
    said = pip("install", "--force-reinstall", theirs)
    assert f"Successfully uninstalled {DISTRIBUTION}-0.7.2+fictl.{VERSION}" in said
    assert python(environment, "import flashinfer; print(flashinfer.__version__)") == "theirs"
    said = pip("install", ours)
    assert f"Successfully uninstalled {DISTRIBUTION}-0.7.2\n" in said
    assert {path.name for path in folder.iterdir()} <= {"__init__.py", "__pycache__"}
    assert python(environment, "import flashinfer; print(flashinfer.__version__)") == "0.7.2"
    pip("uninstall", "-y", DISTRIBUTION)
    assert not (folder / "__init__.py").exists()


def test_files_of_another_flashinfer_beside_ours_are_refused(environment, pip: Run, ours) -> None:
    """As `pip install --target` and a copied folder leave them."""
    pip("install", "--force-reinstall", ours)
    other = site(environment) / "flashinfer" / "norm.py"
    other.write_text("rmsnorm = 'theirs'\n")
    try:
        refusal = python(environment, "import flashinfer", succeeds=False)
    finally:
        other.unlink()
    assert "has fictl's __init__.py and files of another flashinfer, as norm.py" in refusal


def test_the_wheel_has_a_package_its_metadata_and_nothing_else(ours: Path) -> None:
    with zipfile.ZipFile(ours) as archive:
        info = f"flashinfer_python-0.7.2+fictl.{VERSION}.dist-info"
        files = {
            "flashinfer/__init__.py",
            *(f"{info}/{f}" for f in ("WHEEL", "METADATA", "RECORD")),
        }
        assert {*archive.namelist()} == files
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
    assert metadata["Name"] == DISTRIBUTION
    assert metadata["Requires-Dist"] == f"fictl=={VERSION}"
    assert "cu13" in (metadata.get_all("Provides-Extra") or [])
    assert "not FlashInfer itself" in metadata["Summary"]


@pytest.mark.parametrize("version", ["0.7.2", "0.7.2.post1"])
def test_the_version_is_what_an_engine_requires(version: str, tmp_path: Path) -> None:
    from packaging.specifiers import SpecifierSet

    wheel = write_alias_wheel(tmp_path, version)
    assert wheel.version in SpecifierSet(f"=={version}")
    assert wheel.path.is_file()
    assert wheel.path.read_bytes() == write_alias_wheel(tmp_path / "2", version).path.read_bytes()


@pytest.mark.parametrize("version", ["", "0.7.3", "0.7.20", "0.7.2+local", "0.7.2.post1/../x", "1"])
def test_another_version_is_refused(version: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a version of FlashInfer that fictl"):
        write_alias_wheel(tmp_path, version)
    assert not [*tmp_path.iterdir()]
