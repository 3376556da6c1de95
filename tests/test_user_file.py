"""What is read and written as a file of a user's: regular files, and nothing that waits or never ends."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import FictlError, UsageError
from fictl.user_file import read_bytes, read_text, require_folder, require_writable, write_text


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(os.path.relpath(path))


_STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "FIFO": (_fifo, "is a FIFO"),
    "link to a device": (lambda path: path.symlink_to("/dev/zero"), "is a device"),
    "folder": (Path.mkdir, "Is a directory"),
    "loop": (lambda path: path.symlink_to(path), "Too many levels"),
    "link to nothing": (lambda path: path.symlink_to("nothing"), "No such file"),
    "socket": (_socket, "is a socket"),
}


@pytest.fixture(params=_STRANGE, ids=lambda name: name)
def strange(request, tmp_path: Path, monkeypatch) -> tuple[Path, str]:
    monkeypatch.chdir(tmp_path)
    make, said = _STRANGE[request.param]
    make(tmp_path / "it")
    return tmp_path / "it", said


def test_what_is_not_a_regular_file_is_not_read(strange) -> None:
    path, said = strange
    for read in (read_text, read_bytes):
        with pytest.raises(OSError, match=said):
            read(path)


def test_what_is_not_a_regular_file_is_not_written(strange) -> None:
    path, said = strange
    with pytest.raises(FictlError, match=f"--out .* cannot be written: .*{said}"):
        write_text("--out", path, "text")


@pytest.mark.parametrize("place", ["/proc/x", "/dev/full", "/sys/x", "/proc/self/mem", "x" * 300])
def test_a_place_that_takes_no_file_is_told_before_the_work(place: str) -> None:
    with pytest.raises(FictlError, match=r"--out .* cannot be written"):
        require_writable("--out", Path(place))


@pytest.mark.parametrize("place", ["/proc/x", "/dev/full", "/sys/x", "/dev/null/x", "x" * 300])
def test_a_place_that_takes_no_folder_is_told_before_the_work(place: str) -> None:
    with pytest.raises(FictlError, match=r"--out .* cannot be written"):
        require_folder("--out", Path(place))


def test_a_missing_folder_is_refused_where_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        require_writable("--junit", tmp_path / "none" / "out.xml")
    require_writable("--out", tmp_path / "none" / "out.json", makes_folders=True)
    assert not [*tmp_path.iterdir()]


def test_trying_leaves_everything_as_it_was(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("text")
    require_writable("--out", there)
    require_writable("--out", tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert there.read_text() == "text"


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(OSError, match="the most that is read"):
        read_bytes(path)


def test_a_text_is_read_as_python_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("é\r\nb\r".encode())
    assert read_text(path) == path.read_text(encoding="utf-8")
    with pytest.raises(UnicodeDecodeError):
        read_text(path, encoding="ascii")
