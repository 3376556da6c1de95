"""Python releases: each one found here runs the command line up to a build."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from fictl.paths import PACKAGE, data_root

# Python 3.11 has it; where the package is not installed for 3.10, pip's copy stands in.
_TOMLI = (
    "try:\n    from pip._vendor.tomli import *\nexcept ImportError:\n    from tomllib import *\n"
)


@pytest.fixture
def python(version, tmp_path_factory):
    """An interpreter of that release, and the packages of this one that need no compiler."""
    number = version[0]
    installed = sorted(Path.home().glob(f".pyenv/versions/{number}.*/bin/python"))
    for candidate in (shutil.which(f"python{number}"), *installed):
        if candidate and _is(str(candidate), number):
            return str(candidate)
    pytest.skip(f"there is no Python {number} here")


def _is(python: str, number: str) -> bool:
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() == number


def test_every_file_compiles(python, run, tmp_path):
    answer = run(
        python,
        "-W",
        "error",
        "-m",
        "compileall",
        "-q",
        PACKAGE,
        data_root("kernels"),
        PYTHONPYCACHEPREFIX=str(tmp_path / "byte-code"),
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize(
    "words",
    [
        "--version",
        "list",
        "where twice",
        "check",
        "config show",
        "build twice --dry-run",
        "build twice",
    ],
)
def test_the_command_line_runs(python, run, tiny, stand_in_nvcc, tmp_path, words):
    shim = tmp_path / "shim"
    shim.mkdir()
    (shim / "tomli.py").write_text(_TOMLI, encoding="utf-8")
    # Of this interpreter's folders those with packages: its standard library is not for others.
    packages = [place for place in sys.path if Path(place, "tvm_ffi").is_dir()]
    path = [str(PACKAGE.parent), sysconfig.get_path("purelib"), *packages, str(shim)]
    answer = run(
        python,
        "-m",
        "fictl",
        *words.split(),
        PYTHONPATH=os.pathsep.join(path),
        FICTL_NVCC=str(stand_in_nvcc("13.0")),
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr
