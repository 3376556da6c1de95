from __future__ import annotations

import os
from pathlib import Path

import pytest

from fictl.trace.dataset.listing import Listing


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def settle(folder: Path) -> None:
    """Make every folder as old as one that nobody has changed for an hour."""
    for path, _, _ in os.walk(folder):
        before = os.stat(path).st_mtime_ns - 3600 * 10**9
        os.utime(path, ns=(before, before))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that were read, each time."""
    paths: list[str] = []
    scandir = os.scandir

    def read(path: str) -> object:
        paths.append(path)
        return scandir(path)

    monkeypatch.setattr("fictl.trace.dataset.listing.os.scandir", read)
    return paths


def test_files_are_found_by_their_stems_at_any_depth(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.jsonl"), write(tmp_path / "norm/deep/a.jsonl")
    other = write(tmp_path / "norm/b.jsonl")
    write(tmp_path / ".git/a.jsonl")
    write(tmp_path / "a.json")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.jsonl").mkdir()
    listing = Listing(tmp_path, ".jsonl")
    assert listing.with_stems(("a",)) == [first, second]
    assert listing.with_stems(("b", "c")) == [other]


def test_thousands_of_definitions_read_a_folder_once(tmp_path: Path, reads: list[str]) -> None:
    write(tmp_path / "norm/a.jsonl")
    settle(tmp_path)
    reads.clear()
    listing = Listing(tmp_path, ".jsonl")
    for _ in range(100):
        assert len(listing.with_stems(("a",))) == 1
    assert len(reads) == 2


def test_what_is_added_or_removed_is_seen(tmp_path: Path) -> None:
    listing = Listing(tmp_path / "traces", ".jsonl")
    assert listing.with_stems(("a",)) == []
    for number in range(20):  # Faster than a folder's time changes.
        added = write(tmp_path / f"traces/author{number}/a.jsonl")
        assert added in listing.with_stems(("a",))
    settle(tmp_path)
    assert len(listing.with_stems(("a",))) == 20
    added.unlink()
    assert len(listing.with_stems(("a",))) == 19
    late = write(tmp_path / "traces/author0/b.jsonl")
    assert listing.with_stems(("b",)) == [late]
