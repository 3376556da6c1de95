"""Files of line information, found again in the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.project import Project
from fictl.sanitize.sources import ReportSources


@pytest.fixture
def sources(tiny: Path) -> ReportSources:
    return ReportSources(Project.at(tiny))


def test_a_file_that_is_there_is_itself(sources: ReportSources, tiny: Path) -> None:
    header = tiny / "kernels" / "include" / "tiny" / "elementwise" / "twice.cuh"
    assert sources.find(str(header)) == str(header)


@pytest.mark.parametrize("said", ["twice.cuh", "/build/of/another/tiny/elementwise/twice.cuh"])
def test_a_name_or_a_path_of_another_machine_is_found(sources, tiny: Path, said: str) -> None:
    header = tiny / "kernels" / "include" / "tiny" / "elementwise" / "twice.cuh"
    assert sources.find(said) == str(header)


def test_of_files_of_one_name_the_one_with_the_same_folders_is_meant(sources, tiny: Path) -> None:
    other = tiny / "kernels" / "include" / "tiny" / "other" / "twice.cuh"
    other.parent.mkdir()
    other.touch()
    assert sources.find("/x/other/twice.cuh") == str(other)
    assert sources.find("twice.cuh") == "twice.cuh"


@pytest.mark.parametrize("said", ["", "vector.h", "/nowhere/else.cu"])
def test_what_is_not_the_projects_stays_as_it_was_said(sources: ReportSources, said: str) -> None:
    assert sources.find(said) == said


def test_a_copy_that_it_was_built_from_is_the_projects_own_while_it_is_the_same(
    sources: ReportSources, tiny: Path, tmp_path: Path
) -> None:
    header = tiny / "kernels" / "include" / "tiny" / "elementwise" / "twice.cuh"
    copy = tmp_path / "checkout" / "tiny" / "elementwise" / "twice.cuh"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(header.read_bytes())
    assert sources.find(str(copy)) == str(header)
    copy.write_text("another")
    assert sources.find(str(copy)) == str(copy)


def test_a_report_has_the_projects_files_wherever_it_names_one(
    sources: ReportSources, tiny: Path
) -> None:
    header = str(tiny / "kernels" / "include" / "tiny" / "elementwise" / "twice.cuh")
    row = {
        "kind": "race",
        "file": "/built/twice.cuh",
        "line": 9,
        "callers": ["twice.cuh:3"],
        "other": {"what": "a read", "file": "/x.h", "line": 7, "callers": ["/y.h:1"]},
        "text": "race\n  at /built/twice.cuh:9\n    called at twice.cuh:3\n  a read at /x.h:7",
    }
    sources.locate(row)
    assert row == {
        "kind": "race",
        "line": 9,
        "file": header,
        "callers": [f"{header}:3"],
        "inside": [],
        "other": {
            "what": "a read",
            "file": "/x.h",
            "line": 7,
            "callers": ["/y.h:1"],
            "inside": [],
        },
        "text": f"race\n  at {header}:9\n    called at {header}:3\n  a read at /x.h:7",
    }


def test_the_place_is_the_innermost_line_of_the_project(sources, tiny: Path) -> None:
    """A read within an intrinsic is the project's that calls it, on both sides."""
    header = str(tiny / "kernels" / "include" / "tiny" / "elementwise" / "twice.cuh")
    shipped = str(Project.shipped().include / "fictl" / "device" / "vec.cuh")
    half = "/usr/local/cuda/include/cuda_fp16.hpp:1"
    row = {
        "kind": "race",
        "file": shipped,
        "line": 40,
        "callers": ["/built/twice.cuh:12", "twice.cuh:30"],
        "inside": [half],
        "other": {
            "what": "a read",
            "file": half[:-2],
            "line": 1,
            "callers": ["twice.cuh:1"],
        },
        "text": f"race\n  at {shipped}:40\n    in {half}\n    called at /built/twice.cuh:12\n"
        f"    called at twice.cuh:30\n  a read at {half}, block (0,0,0)\n  a read at {half}2",
    }
    sources.locate(row)
    assert (row["file"], row["line"]) == (header, 12)
    assert (row["inside"], row["callers"]) == ([half, f"{shipped}:40"], [f"{header}:30"])
    other = row["other"]
    assert (other["file"], other["line"], other["inside"]) == (header, 1, [half])
    assert row["text"].splitlines() == [
        "race",
        f"  at {header}:12",
        f"    in {half}",
        f"    in {shipped}:40",
        f"    called at {header}:30",
        f"  a read at {header}:1, block (0,0,0)",
        f"  a read at {half}2",
    ]


def test_without_a_line_in_the_project_the_place_stays(sources: ReportSources) -> None:
    row = {
        "file": "/lib/x.cuh",
        "line": 3,
        "callers": ["/lib/y.cuh:4"],
        "text": "x\n  at /lib/x.cuh:3",
    }
    sources.locate(row)
    assert (row["file"], row["line"], row["callers"]) == ("/lib/x.cuh", 3, ["/lib/y.cuh:4"])
