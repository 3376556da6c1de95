"""Names of files that hold in any checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.inspect.instruction import SourcePlace
from fictl.inspect.sources import KernelSources, Roots
from fictl.jit.spec import JitSpec


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> JitSpec:
    """An op with a header of its project, in the working folder."""
    for name in ("op/launcher.cu", "include/mine/a.cuh", "kept/src/config.inc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"// {name}\n  int x;\n")
    monkeypatch.chdir(tmp_path)
    return JitSpec("m", (), include_dirs=(tmp_path / "include",), base=tmp_path / "op")


@pytest.mark.parametrize(
    ("path", "name", "shown"),
    [
        ("op/launcher.cu", "launcher.cu", "op/launcher.cu:2"),
        ("include/mine/../mine/a.cuh", "<mine/a.cuh>", "include/mine/a.cuh:2"),
        ("staging/src/config.inc", "src/config.inc", "kept/src/config.inc:2"),
    ],
)
def test_a_file_is_found_where_it_is_now(spec, tmp_path: Path, path, name, shown) -> None:
    roots = Roots.of(spec, tmp_path / "staging")
    assert roots.portable(str(tmp_path / path)) == name
    sources = KernelSources.of(spec, [tmp_path / "kept"])
    assert sources.shown(SourcePlace(name, 2)) == shown
    assert sources.text(SourcePlace(name, 2)) == "int x;"


def test_files_of_others_keep_their_path(spec, tmp_path: Path) -> None:
    roots = Roots.of(spec, tmp_path / "staging")
    assert roots.portable("/usr/include/stdio.h") == "/usr/include/stdio.h"


def test_a_file_that_is_gone_is_still_named(spec) -> None:
    sources = KernelSources.of(spec)
    assert sources.shown(SourcePlace("<mine/gone.cuh>", 3)) == "<mine/gone.cuh>:3"
    assert sources.text(SourcePlace("<mine/gone.cuh>", 3)) == ""
    assert sources.text(SourcePlace("launcher.cu", 99)) == ""
    assert sources.shown(None) == "no line known"


def test_roots_come_back_from_json_as_they_were(spec, tmp_path: Path) -> None:
    roots = Roots.of(spec, tmp_path)
    assert Roots.from_json(roots.to_json()) == roots
