"""Whoever types what a page shows gets what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl import toolchain

from .pages import ROOT, Block, Reader, assert_said, blocks

PAGES = (
    "../README",
    "projects",
    "new-op",
    "existing-code",
    "triton",
    "cute-dsl",
    "tutorial",
    "guide",
    "troubleshooting",
    "inspecting",
    "profiling",
    "watching",
    "debugging",
    "sanitizing",
    "datasets",
    "runnable",
    "intra-kernel",
    "gemm",
    "hopper/index",
)


@pytest.fixture
def reader(tmp_path: Path, users_cache: None) -> Reader:
    home = tmp_path / "home"
    home.mkdir()
    return Reader(home, has_gpu=bool(toolchain.visible_gpus()))


@pytest.mark.needs_nvcc
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page: str, reader: Reader) -> None:
    reader.read(ROOT / "docs" / f"{page}.md")


def test_a_page_is_read_block_by_block() -> None:
    page = "text\n```\n$ ls\n```\n<!-- needs gpu -->\n```python\nx\n```\n<!-- run: cd a -->\n"
    assert [*blocks(page)] == [
        Block("", "$ ls\n", "", 2),
        Block("python", "x\n", "needs gpu", 6),
        Block("", "$ cd a\n", "", 9),
    ]


def test_a_file_is_written_once_and_then_compared(reader: Reader) -> None:
    reader.follow(Block("python", "# a/b.py\nx = 1\ny = 2\n", "", 1))
    reader.follow(Block("python", "# a/b.py\n…\ny = 2\n", "", 1))
    with pytest.raises(AssertionError, match="y = 3"):
        reader.follow(Block("python", "# a/b.py\ny = 3\n", "", 1))


def test_a_session_keeps_its_folder_and_says_what_is_shown(reader: Reader) -> None:
    reader.follow(Block("", "$ mkdir a && cd a\n$ pwd; echo took 1.5 s\n…/a\ntook 7 s\n", "", 1))
    assert reader.here == reader.home / "a"


def test_a_command_that_shows_nothing_must_succeed(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="`false` ended with 1"):
        reader.follow(Block("", "$ false\n", "", 1))


def test_what_is_marked_is_left_out(reader: Reader) -> None:
    reader.follow(Block("", "$ false\n", "needs gpu", 1))
    reader.follow(Block("", "$ false\n", "not run: it fails", 1))
    reader.follow(Block("bash gpu", "false\n", "", 1))


def test_a_line_in_another_place_is_not_said() -> None:
    with pytest.raises(AssertionError, match="in this place"):
        assert_said("b\na\n", "a\nb\n")
