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
        "other": {"what": "a read", "file": "/x.h", "line": 7, "callers": ["/built/twice.cuh:1"]},
        "text": "race\n  at /built/twice.cuh:9\n  called at twice.cuh:3\n  a read at /x.h:7",
    }
    sources.locate(row)
    assert row == {
        "kind": "race",
        "line": 9,
        "file": header,
        "callers": [f"{header}:3"],
        "other": {"what": "a read", "file": "/x.h", "line": 7, "callers": [f"{header}:1"]},
        "text": f"race\n  at {header}:9\n  called at {header}:3\n  a read at /x.h:7",
    }
