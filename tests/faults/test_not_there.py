"""Folders that may not be searched, and files that are something else: as good as not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.cli import main

_PROGRAMS = (
    "nvcc",
    "g++",
    "c++",
    "clang++",
    "ninja",
    "cuobjdump",
    "nvdisasm",
    "gdb",
    "ncu",
    "nsys",
    "git",
)


@pytest.fixture
def hostile_path(tmp_path: Path) -> list[Path]:
    """Entries for PATH of every kind that holds no program."""
    places = []

    def place(name: str) -> Path:
        places.append(tmp_path / "path" / name)
        places[-1].parent.mkdir(exist_ok=True)
        return places[-1]

    place("absent")
    place("file").touch()
    place("dangling").symlink_to(tmp_path / "nowhere")
    place("loop").symlink_to("loop")
    for name in ("folders", "not_executable", "dangling_programs", "looping", "pipes"):
        place(name).mkdir()
        for program in _PROGRAMS:
            _impostor(name, places[-1] / program)
    for name, mode in (("closed", 0), ("unsearchable", 0o600), ("unlisted", 0o100)):
        folder = place(name)
        folder.mkdir()
        if name != "unlisted":
            for program in _PROGRAMS:
                (folder / program).write_text("#!/bin/sh\nexit 1\n")
                (folder / program).chmod(0o755)
        (folder / "below").mkdir()
        folder.chmod(mode)
    places.append(tmp_path / "path" / "closed" / "below")
    return places


def _impostor(kind: str, program: Path) -> None:
    if kind == "folders":
        program.mkdir()
    elif kind == "not_executable":
        program.touch(0o644)
    elif kind == "pipes":
        os.mkfifo(program)
    else:
        program.symlink_to(program.name if kind == "looping" else "nowhere")


@pytest.fixture(autouse=True)
def _removable(tmp_path):
    yield
    for folder in (tmp_path / "path").glob("*"):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o700)


@pytest.fixture
def codes(start) -> Callable[..., list[int]]:
    """Run one command after the other, all in one interpreter: their exit codes."""

    def run(*commands: str, **changes: str | None) -> list[int]:
        each = f"[main(words.split()) for words in {commands!r}]"
        child = start("-c", f"from fictl.cli import main; print('codes', *{each})", **changes)
        out, err = child.communicate(timeout=120)
        assert "Traceback" not in out + err
        assert "internal error" not in out + err
        return [int(word) for word in out.splitlines()[-1].split()[1:]]

    return run


@pytest.fixture
def with_nvcc_on_path(project, hostile_path) -> dict[str, str | None]:
    """The environment in which nvcc comes after all that is none."""
    words = [*map(str, hostile_path), "", str(project.nvcc.parent), os.environ["PATH"]]
    return {"PATH": os.pathsep.join(words), "FICTL_NVCC": None}


def test_on_path_nothing_of_that_kind_is_in_the_way(with_nvcc_on_path, codes, project):
    asked = (
        "build twice",
        "build twice --dry-run",
        "list",
        "check twice",
        "where twice",
        "cache show",
        "cache explain twice",
        "config show",
        "compile-commands --dry-run",
    )
    assert set(codes(*asked, **with_nvcc_on_path)) == {0}
    assert project.compiles == 1
    may_fail = codes(
        "doctor --for build", "inspect twice", "profile twice", "debug twice", **with_nvcc_on_path
    )
    assert set(may_fail) <= {0, 1, 3}


@pytest.mark.parametrize("name", ["CUDA_HOME", "CONDA_PREFIX"])
def test_a_toolkit_that_may_not_be_searched_is_passed_over(
    name, project, hostile_path, with_nvcc_on_path, fictl_
):
    closed = next(str(path) for path in hostile_path if path.name == "closed")
    answer = fictl_("build", "twice", **{**with_nvcc_on_path, name: f"{closed}/below"})
    assert answer.code == 0, answer.said


def test_one_that_is_named_is_said_not_to_be_there(project, hostile_path, fictl_):
    for place in hostile_path:
        answer = fictl_("build", "twice", FICTL_NVCC=str(place / "nvcc"))
        assert answer.code == 3, answer.said
        assert f"FICTL_NVCC={place}/nvcc cannot be used" in answer.err


def test_a_store_that_may_not_be_searched_holds_nothing(project, hostile_path, fictl_):
    stores = os.pathsep.join(map(str, hostile_path))
    answer = fictl_("build", "twice", FICTL_STORES=stores, FICTL_CACHE_PATH=str(hostile_path[-1]))
    assert answer.code == 0, answer.said


@pytest.mark.parametrize("name", ["loop", "closed", "unlisted", "below"])
def test_the_home_of_another_holds_no_settings(name, project, hostile_path, fictl_):
    home = next(str(path) for path in hostile_path if path.name == name)
    answer = fictl_("build", "twice", HOME=home, FICTL_CONFIG=None, XDG_CONFIG_HOME=None)
    assert answer.code == 0, answer.said


@pytest.mark.parametrize("name", ["file", "dangling", "loop", "closed", "unsearchable", "below"])
def test_a_cache_that_may_not_be_searched_is_said(name, project, hostile_path, fictl_):
    base = next(str(path) for path in hostile_path if path.name == name)
    answer = fictl_("build", "twice", FICTL_WORKSPACE_BASE=base)
    assert answer.code == 3, answer.said
    assert "FICTL_WORKSPACE_BASE to a folder" in answer.err


@pytest.mark.parametrize("part", ["", "kernels", "tests", "kernels/include", "kernels/elementwise"])
def test_a_part_of_a_project_that_may_not_be_searched(part, project, codes):
    """What is missing is named, whatever asks for it; never an internal error."""
    os.chdir(project.root if part else project.root.parent)
    folder = project.root / part
    # Why one op: from outside it is the project of fictl that would be checked, all of it.
    check = "check" if part else "check twice"
    for mode in (0, 0o600):
        folder.chmod(mode)
        try:
            found = codes("list", "build twice", check, "where twice", "cache explain")
        finally:
            folder.chmod(0o755)
        assert set(found) <= {0, 1, 2, 3}


def test_a_folder_above_that_may_not_be_searched_holds_no_project(project, fictl_, tmp_path):
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "outer" / "fictl.toml").write_text('name = "outer"\n')
    os.chdir(inner)
    (tmp_path / "outer").chmod(0o600)
    try:
        answer = fictl_("list")
    finally:
        (tmp_path / "outer").chmod(0o755)
    assert answer.code == 0, answer.said


def test_a_working_folder_that_is_gone_is_said(project, capfd, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    # In this process: an interpreter that starts in such a folder says much of its own.
    for words in ("list", "build twice", "new-op x", "cache show", "config show", "doctor"):
        assert main(words.split()) in (0, 1, 2, 3)
        assert "internal error" not in capfd.readouterr().err
    os.chdir("/")


def test_links_that_go_round_are_said(project, codes, tmp_path):
    loop = tmp_path / "round"
    loop.symlink_to("round")
    shutil.rmtree(project.root / "kernels")
    (project.root / "kernels").symlink_to("kernels")
    asked = ("list", "build twice", f"init {loop}", f"export-op twice --out {loop}")
    assert set(codes(*asked, f"replay {loop}", f"bench {loop}.py")) <= {1, 2, 3}
