"""The formatters' last word, by the settings of the place, and none where they cannot speak."""

from __future__ import annotations

from pathlib import Path
from shutil import which

import pytest

from fictl.scaffold.kinds import polish as module
from fictl.scaffold.kinds.polish import polish


@pytest.mark.skipif(not which("ruff"), reason="needs ruff on the PATH")
def test_python_is_formatted_by_the_settings_around_it(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    assert polish({path: "x = {'a':1}\n"}) == {path: 'x = {"a": 1}\n'}
    (tmp_path / "ruff.toml").write_text("[format]\nquote-style = 'single'\n")
    assert polish({path: 'x = {"a":1}\n'}) == {path: "x = {'a': 1}\n"}


@pytest.mark.skipif(not which("ruff"), reason="needs ruff on the PATH")
def test_without_settings_lines_are_a_hundred_wide(tmp_path: Path) -> None:
    text = f"x = f({', '.join(['argument'] * 9)})\n"
    assert len(text) in range(90, 101)
    assert polish({tmp_path / "file.py": text}) == {tmp_path / "file.py": text}


@pytest.mark.skipif(not which("clang-format"), reason="needs clang-format on the PATH")
def test_cuda_is_formatted_in_the_house_style_or_the_projects_own(tmp_path: Path) -> None:
    path = tmp_path / "file.cuh"
    assert polish({path: "int f( int *x );\n"}) == {path: "int f(int* x);\n"}
    style = "{DerivePointerAlignment: false, PointerAlignment: Right, BasedOnStyle: LLVM}"
    (tmp_path / ".clang-format").write_text(style)
    assert polish({path: "int f( int *x );\n"}) == {path: "int f(int *x);\n"}


def test_what_cannot_be_read_stays_as_it_is(tmp_path: Path) -> None:
    texts = {tmp_path / "file.py": "def f(:\n", tmp_path / "page.md": "*  text\n"}
    assert polish(texts) == texts


def test_without_formatters_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_find", lambda name: None)
    texts = {tmp_path / "file.py": "x = {'a':1}\n"}
    assert polish(texts) == texts
