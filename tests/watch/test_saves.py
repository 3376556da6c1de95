"""What is heard of writes, with the events of the real kernel."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest

from fictl.watch.saves import Saves


class Heard:
    """The names of the files that one heard of, without what was heard before."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[Path] = SimpleQueue()

    def until(self, name: str, seconds: float = 5.0) -> set[str]:
        found, end = set[str](), time.monotonic() + seconds
        while name not in found:
            found.add(self.queue.get(timeout=max(0.001, end - time.monotonic())).name)
        return found

    def nothing(self, seconds: float = 0.15) -> bool:
        try:
            self.queue.get(timeout=seconds)
        except Empty:
            return True
        return False


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "op" / "deep").mkdir(parents=True)
    (tmp_path / "op" / "x.cuh").write_text("old")
    return tmp_path / "op"


@pytest.fixture
def saves(place: Path, heard: Heard) -> Iterator[Saves]:
    with Saves({place: True}, heard.queue.put) as found:
        yield found


def in_place(path: Path) -> None:
    path.write_text("new")


def by_rename(path: Path) -> None:
    path.with_name(".x.new").write_text("new")
    os.replace(path.with_name(".x.new"), path)


def as_vim(path: Path) -> None:
    path.with_name("4913").touch()
    path.with_name("4913").unlink()
    os.rename(path, f"{path}~")
    path.write_text("new")
    os.unlink(f"{path}~")


@pytest.mark.parametrize("save", [in_place, by_rename, as_vim, Path.unlink])
def test_however_it_is_written_it_is_heard_by_its_name(
    place, heard, saves, save: Callable[[Path], None]
) -> None:
    save(place / "x.cuh")
    assert heard.until("x.cuh") == {"x.cuh"}


def test_new_files_and_folders_are_heard(place, heard, saves) -> None:
    (place / "deep" / "new.cuh").touch()
    heard.until("new.cuh")
    (place / "later").mkdir()
    heard.until("later")
    (place / "later" / "y.cuh").touch()
    heard.until("y.cuh")


def test_to_read_is_not_to_write(place, heard, saves) -> None:
    (place / "x.cuh").read_text()
    (place / ".x.cuh.swp").write_text("an editor's own")
    assert heard.nothing()


def test_a_folder_that_is_made_again_is_watched_again(place, heard, saves) -> None:
    assert saves.rearm() == []
    shutil.rmtree(place)
    assert saves.rearm() == [place]
    place.mkdir()
    assert saves.rearm() == [place]
    time.sleep(0.02)
    (place / "z.cuh").touch()
    heard.until("z.cuh")


def test_a_place_may_be_added(place, heard, saves, tmp_path) -> None:
    (tmp_path / "more").mkdir()
    assert saves.rearm({tmp_path / "more": False}) == [tmp_path / "more"]
    (tmp_path / "more" / "z.cuh").touch()
    heard.until("z.cuh")


def test_on_a_network_file_system_it_looks_and_says_so(place, heard, monkeypatch) -> None:
    monkeypatch.setattr("fictl.watch.saves.on_network", lambda path: True)
    with Saves({place: True}, heard.queue.put) as saves:
        assert saves.polling == f"{place} is on a network file system"
        by_rename(place / "x.cuh")
        heard.until("x.cuh")


def test_where_the_kernel_watches_no_more_it_looks_and_says_how_to_change_that(
    place, heard, monkeypatch
) -> None:
    from watchdog.observers import Observer

    def full(*args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Observer, "schedule", full)
    with Saves({place: True}, heard.queue.put) as saves:
        assert "fs.inotify.max_user_watches" in saves.polling
        in_place(place / "x.cuh")
        heard.until("x.cuh")
