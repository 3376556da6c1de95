from __future__ import annotations

from pathlib import Path

import pytest

from fictl.scaffold.existing.keep_formatted import keep_formatted

pytest.importorskip("ruff")

_TIDY = (
    "call(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, ccccccc)\n"
)
_LONG = _TIDY.replace("ccccccc", "c" * 30)


def renamed(folder: Path, before: str, after: str) -> str:
    (folder / "old.py").write_text(before)
    new = folder / "new.py"
    return keep_formatted({new: after}, {new: folder / "old.py"})[new]


def test_what_was_formatted_is_so_again(tmp_path: Path) -> None:
    assert max(map(len, renamed(tmp_path, _TIDY, _LONG).splitlines())) <= 100


def test_what_its_author_formatted_is_left_alone(tmp_path: Path) -> None:
    assert renamed(tmp_path, f"x  = 1\n{_TIDY}", f"x  = 1\n{_LONG}") == f"x  = 1\n{_LONG}"


def test_what_does_not_change_is_not_touched(tmp_path: Path) -> None:
    assert renamed(tmp_path, "x  = 1\n", "x  = 1\n") == "x  = 1\n"
