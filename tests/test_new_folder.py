"""A new op is a new folder: nothing else of fictl is edited, by hand or by a command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_TESTS = ("tests/conftest.py", "tests/cudart.py", "tests/servers", "tests/kernels")
_COPIED = ("fictl", "kernels", "templates", *_TESTS, "pyproject.toml")
_FILES = (
    "kernels/elementwise/{}/launcher.cu",
    "kernels/elementwise/{}/binding.cpp",
    "kernels/elementwise/{}/op.py",
    "kernels/elementwise/{}/trace.py",
    "kernels/elementwise/{}/bench.py",
    "kernels/include/fictl/elementwise/{}.cuh",
    "tests/kernels/elementwise/test_{}.py",
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of fictl, with `stretch` written by hand: scale's files under another name."""
    root = tmp_path_factory.mktemp("new_folder")
    for name in _COPIED:
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, target)
    for name in _FILES:
        text = (root / name.format("scale")).read_text(encoding="utf-8")
        new = root / name.format("stretch")
        new.parent.mkdir(exist_ok=True)
        text = text.replace("scale", "stretch").replace("Scale", "Stretch")
        new.write_text(text, encoding="utf-8")
    return root


def python(root: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "FICTL_DEVICE": "emu"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_hold_without_an_entry_in_any_list(checkout: Path) -> None:
    assert "✓ every rule holds" in python(checkout, "fictl", "check")
    assert "def stretch(input" in (checkout / "fictl/ops.pyi").read_text(encoding="utf-8")


def test_the_op_is_found_by_its_folder(checkout: Path) -> None:
    assert "stretch" in python(checkout, "fictl", "list")


def test_what_is_tested_of_every_op_is_tested_of_it(checkout: Path, users_cache: None) -> None:
    """Of what compiles, it is enough that it is there: the kernel is scale's."""
    (checkout / "shows_deselected.py").write_text(
        "def pytest_deselected(items):\n    print(*(item.nodeid for item in items), sep='\\n')\n"
    )
    generic = ("tests/kernels/test_shipped.py", "tests/kernels/test_schemas.py")
    words = ("pytest", "-q", "-n0", "-p", "no:cacheprovider", "-p", "shows_deselected", *generic)
    shown = python(checkout, *words, "-k", "stretch and not compiles")
    assert " passed" in shown
    left_out = [line for line in shown.splitlines() if "stretch" in line]
    assert any("compiles_for_the_generations" in line for line in left_out)
