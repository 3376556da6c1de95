"""Which folders are fictl projects, by their files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import fictl
from fictl.project_file import project_folder

CHECKOUT = Path(fictl.__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fictl.toml", 'name = "x"'),
        ("fictl.toml", "not TOML ["),
        ("pyproject.toml", '[tool.fictl]\nname = "x"'),
        ("pyproject.toml", "tool.fictl.name = 'x'"),
        ("pyproject.toml", "[tool.fictl.templates]\nop = 'x'"),
        # Reading it says which line is wrong.
        ("pyproject.toml", "[tool.fictl\nname = 'x'"),
    ],
)
def test_a_project_holds_all_below_it(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    below = tmp_path / "tests" / "deep"
    below.mkdir(parents=True)
    assert project_folder(tmp_path) == project_folder(below) == tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[tool.ruff]",
        "# [tool.fictl]",
        "[tool.fictl-x]",
        "x = '[tool.fictl]'",
        "tool = 'x.fictl'",
    ],
)
def test_another_project_is_not_ours(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    assert project_folder(tmp_path) is None


def test_files_that_cannot_be_read_are_not_ours_to_mind(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").mkdir()
    assert project_folder(tmp_path) is None
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "pyproject.toml").write_bytes(b"\xff\xfe not text")
    assert project_folder(tmp_path / "nested") is None


def test_a_broken_link_of_our_name_is_a_project_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "fictl.toml").symlink_to("nowhere")
    assert project_folder(tmp_path) == tmp_path


def test_what_is_installed_is_not_of_the_project_around_it(tmp_path: Path) -> None:
    (tmp_path / "fictl.toml").write_text('name = "x"', encoding="utf-8")
    package = tmp_path / ".venv" / "lib" / "site-packages" / "numpy" / "tests"
    package.mkdir(parents=True)
    assert project_folder(package) is None
    assert project_folder(tmp_path / ".venv") == tmp_path


def test_fictl_itself_is_one() -> None:
    assert project_folder(Path(__file__).parent) == CHECKOUT
    assert project_folder(CHECKOUT / "fictl" / "testing" / "generated") is not None
