"""The tables of docs/support.md, which say what is to be true here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import fictl

ROOT = Path(fictl.__file__).parents[1]


def tables() -> dict[str, list[list[str]]]:
    """The rows of each table by the heading of its first column; the first one's is empty."""
    found: dict[str, list[list[str]]] = {}
    rows: list[list[str]] | None = None
    for line in (ROOT / "docs" / "support.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            rows = None
        elif rows is None:
            rows = found[cells[0]] = []
        elif set(line) != set("|-"):
            rows.append(cells)
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`toolkit`, `gpu` and `version` are rows of the page; a toolkit that is refused is `refused`."""
    page = tables()
    releases = [row for row in page["CUDA"] if not row[1].startswith("nothing")]
    refused = [row for row in page["CUDA"] if row[1].startswith("nothing")]
    rows = {"toolkit": releases, "refused": refused, "gpu": page["GPU"], "version": page["Python"]}
    for name in rows.keys() & set(metafunc.fixturenames):
        metafunc.parametrize(name, rows[name], ids=[row[0] for row in rows[name]])


@pytest.fixture
def page() -> dict[str, list[list[str]]]:
    return tables()


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a program with variables added to those here."""

    def start(*words: str | Path, **changes: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            list(map(str, words)),
            env={**os.environ, "PYTHONPATH": path, **changes},
            capture_output=True,
            text=True,
            timeout=120,
        )

    return start
