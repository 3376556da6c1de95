"""The command line called in this process, in a small project of a user's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fictl.cli import main

from ..documents import read_document

_OP = """
@op(archs="{archs}", dtypes="f16 bf16", devices="cuda emu", mutates="out")
def {name}(input, out=None):
    "What {name} does."
"""


@dataclass(frozen=True)
class Answer:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return read_document(self.out)


@pytest.fixture
def fictl(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    def run(*words: str) -> Answer:
        code = main(words)
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`my_kernels` with elementwise/halve (from 8.0) and gemm/dense (9.0a): only their op.py."""
    root = tmp_path / "repo"
    for path, archs in (("elementwise/halve", ">=8.0"), ("gemm/dense", "9.0a")):
        folder = root / "kernels" / path
        folder.mkdir(parents=True)
        text = _OP.format(name=folder.name, archs=archs)
        (folder / "op.py").write_text(text, encoding="utf-8")
    (root / "fictl.toml").write_text('name = "my_kernels"\n', encoding="utf-8")
    monkeypatch.chdir(root / "kernels" / "gemm")
    return root


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project to scaffold into, and the working folder."""
    root = tmp_path / "project"
    (root / "kernels").mkdir(parents=True)
    (root / "fictl.toml").write_text('name = "my_kernels"\n', encoding="utf-8")
    monkeypatch.chdir(root)
    return root
