"""Folders of judges: this user's alone, and gone with the process that made them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from fictl.errors import SetupError
from fictl.judge.process.room import all_rooms, new_room


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_nobody_else_looks_into_it() -> None:
    made = new_room("solution")
    assert made.stat().st_mode & 0o077 == 0
    assert all_rooms().stat().st_mode & 0o077 == 0


def test_a_folder_that_is_open_to_others_is_refused() -> None:
    all_rooms().chmod(0o755)
    with pytest.raises(SetupError, match="not this user's alone"):
        new_room("solution")


def test_a_link_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (tmp_path / f"fictl-judges-{os.getuid()}").symlink_to(elsewhere)
    with pytest.raises(SetupError):
        all_rooms()


def test_what_a_dead_process_left_goes() -> None:
    left = all_rooms() / f"{1 << 22}-solution-0"
    left.mkdir()
    (left / "file").write_text("")
    ours = new_room("reference")
    new_room("solution")
    assert not left.exists()
    assert ours.exists()
