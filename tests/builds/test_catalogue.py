from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.builds.building import build
from fictl.builds.catalogue import Wanted, catalogue
from fictl.jit.progress import LogObserver
from fictl.jit.store.stores import writable_store


def test_a_row_says_what_is_declared_and_imports_nothing(tiny: Path) -> None:
    (row,) = catalogue(["twice"])
    assert row.to_dict() == {
        "project": "tiny",
        "family": "elementwise",
        "module": "twice",
        "function": "twice",
        "doc": "input * 2.",
        "dtypes": ("i32",),
        "archs": ">=8.0",
        "devices": ("cuda", "emu"),
        "built": "no",
        "built_archs": (),
    }
    assert "tiny" not in sys.modules


def test_without_names_every_project_at_hand_is_shown(tiny: Path) -> None:
    assert {row.project for row in catalogue([])} >= {"tiny", "fictl"}


def test_a_folder_has_a_row_for_each_function(tiny: Path) -> None:
    with (tiny / "kernels/elementwise/twice/op.py").open("a", encoding="utf-8") as file:
        file.write('\n\n@op(archs="9.0a", dtypes="i32", mutates="")\ndef thrice(input): ...\n')
    rows = catalogue(["tiny/twice"])
    assert [(row.function, row.archs) for row in rows] == [("twice", ">=8.0"), ("thrice", "9.0a")]


@pytest.mark.parametrize(("arch", "found"), [("7.5", 0), ("8.0", 1), ("12.0a", 1)])
def test_an_architecture_keeps_what_runs_on_it(tiny: Path, arch: str, found: int) -> None:
    assert len(catalogue(["twice"], Wanted([Arch.parse(arch)]))) == found


@pytest.mark.needs_nvcc
def test_an_edit_makes_what_was_built_stale(tiny: Path) -> None:
    build(["twice"], (Arch(8, 0),), LogObserver())
    (row,) = catalogue(["twice"])
    assert (row.built, row.built_archs) == ("built", ("8.0",))
    header = tiny / "kernels/include/tiny/elementwise/twice.cuh"
    header.write_text(header.read_text() + "// edited\n")
    (row,) = catalogue(["twice"])
    assert (row.built, row.built_archs) == ("stale", ())


def test_what_was_built_for_the_emulated_device_says_so(tiny: Path, fake_build) -> None:
    folder = writable_store().recipe_dir("tiny", "elementwise.twice", "recipe") / "build"
    fake_build(folder, project="tiny", module="elementwise.twice", device="emu", archs=())
    (row,) = catalogue(["twice"])
    assert (row.built, row.built_archs) == ("built", ("emu",))
