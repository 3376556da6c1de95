"""Names in the debug info of a build, and the files here that they stand for."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.emu import places
from fictl.emu.places import PLACES, remember, true_path, write


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_builds", {})
    places._read.cache_clear()


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build whose headers lie in two folders of one name; the rendered file is its own."""
    for name in ("ours/a.cuh", "theirs/b.cuh", "op/launcher.cu", "build/src/config.inc"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    folders = {"ours": "include", "theirs": "include", "op": "norm/rms"}
    named = [(name, str(tmp_path / folder)) for folder, name in folders.items()]
    write(tmp_path / "build", [(".", "/proc/self/cwd"), *named])
    return tmp_path / "build"


NAMES = {
    "include/a.cuh": "ours/a.cuh",
    "include/b.cuh": "theirs/b.cuh",
    "norm/rms/launcher.cu": "op/launcher.cu",
    "./include/a.cuh": "ours/a.cuh",
    "./norm/rms/launcher.cu": "op/launcher.cu",
    "src/config.inc": "build/src/config.inc",
    "./src/config.inc": "build/src/config.inc",
}


@pytest.mark.parametrize(("name", "path"), NAMES.items(), ids=NAMES)
def test_a_name_stands_for_a_file(build: Path, name: str, path: str) -> None:
    assert true_path(name, str(build / "module.so")) == str(build.parent / path)


def test_without_a_library_the_builds_that_were_loaded_are_searched(build: Path) -> None:
    assert true_path("norm/rms/launcher.cu") == "norm/rms/launcher.cu"
    remember(build)
    assert true_path("norm/rms/launcher.cu") == str(build.parent / "op" / "launcher.cu")


@pytest.mark.parametrize("module", ["module.so", ""])
def test_the_folders_of_the_spec_come_before_those_of_who_compiled_it(
    build: Path, tmp_path: Path, module: str
) -> None:
    """Two checkouts with the same sources share a build, and either may be removed."""
    (tmp_path / "second" / "op").mkdir(parents=True)
    second = tmp_path / "second" / "op" / "launcher.cu"
    second.touch()
    remember(build, lambda: [("norm/rms", str(second.parent))])
    assert true_path("norm/rms/launcher.cu", module and str(build / module)) == str(second)
    assert true_path("include/a.cuh", module and str(build / module)) == str(
        tmp_path / "ours/a.cuh"
    )


@pytest.mark.parametrize("name", ["include/none.cuh", "includes/a.cuh", "/usr/include/stdio.h"])
def test_other_names_stay_as_they_are(build: Path, name: str) -> None:
    assert true_path(name, str(build / "module.so")) == name


@pytest.mark.parametrize("text", [None, "{", "3", "[3]", '[["include"]]'])
def test_a_list_that_cannot_be_read_names_nothing(build: Path, text: str | None) -> None:
    (build / PLACES).unlink()
    if text is not None:
        (build / PLACES).write_text(text)
    assert true_path("include/a.cuh", str(build / "module.so")) == "include/a.cuh"
