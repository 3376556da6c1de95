"""Folders as hostile code leaves them: removed whatever they hold, and nothing outside is touched."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from fictl import removal
from fictl.removal import remove

_AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
_NOBODY = 65534


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is room: a disk takes milliseconds to forget a folder."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    place = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield place
    remove(place)


@pytest.fixture(autouse=True)
def _said_anew() -> Iterator[None]:
    yield
    removal.warn_once.cache_clear()


def deepened(folder: Path, depth: int) -> None:
    """Step by step: no path is that long."""
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("at the bottom", os.O_CREAT, dir_fd=handle))
    os.close(handle)


def _names(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    for name in (
        b"new\nline",
        b"\xff\xfe",
        b"n" * 255,
        b" ",
        b"-rf",
        b"\x1b[2J",
        "é".encode() * 127,
    ):
        os.mkdir(name, dir_fd=handle)
        inner = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(os.open(name, os.O_CREAT, dir_fd=inner))
        os.close(inner)
    os.close(handle)


def _closed(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name / "inner").mkdir(parents=True)
        (folder / name / "inner" / "file").touch(mode=0)
        (folder / name / "inner").chmod(0)
        (folder / name).chmod(0o100)
    folder.chmod(0)


def _special(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket"))
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    if os.geteuid() == 0:
        os.mknod(folder / "device", 0o600 | 0o060000, os.makedev(7, 200))


def _many(folder: Path) -> None:
    for part in ("x", "y/z"):
        (folder / part).mkdir(parents=True)
        for number in range(3000):
            (folder / part / str(number)).touch()


def _wide_and_deep(folder: Path) -> None:
    for name in "abc":
        (folder / name).mkdir()
        deepened(folder / name, 400)


LEFT: dict[str, Callable[[Path], None]] = {
    "nothing": lambda folder: None,
    "3000 deep": lambda folder: deepened(folder, 3000),
    "several deep ones": _wide_and_deep,
    "names": _names,
    "no permissions": _closed,
    "special files": _special,
    "many files": _many,
}


@pytest.mark.parametrize("kind", LEFT)
def test_whatever_is_left_goes(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    LEFT[kind](folder)
    remove(folder)
    assert [*tmp_path.iterdir()] == []


def test_any_depth_goes_with_few_open_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    deepened(tmp_path / "folder", 100_000)
    code = (
        "import resource, sys, pathlib\n"
        "from fictl.removal import remove\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))\n"
        "remove(pathlib.Path(sys.argv[1]))\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "folder")], check=True)
    assert [*tmp_path.iterdir()] == []


@_AS_ROOT
@pytest.mark.parametrize("kind", [kind for kind in LEFT if kind != "special files"])
def test_a_user_without_rights_removes_their_own(kind: str, tmp_path: Path) -> None:
    """Modes do not bind root: once more as somebody whom they bind."""
    place = Path(tempfile.mkdtemp(dir=tmp_path))
    os.chown(place, _NOBODY, _NOBODY)
    tmp_path.chmod(0o711)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
            (place / "folder").mkdir()
            LEFT[kind](place / "folder")
            remove(place / "folder")
            code = len([*place.iterdir()])
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    place.rmdir()


def test_links_are_removed_and_never_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (outside / "kept").chmod(0o400)
    outside.chmod(0o500)
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "link").symlink_to(outside)
    (folder / "link").symlink_to(outside / "kept")
    os.link(outside / "kept", folder / "second name")
    remove(folder)
    assert [*tmp_path.iterdir()] == [outside]
    assert (outside / "kept").read_text() == "kept"
    assert (outside / "kept").stat().st_mode & 0o777 == 0o400
    assert outside.stat().st_mode & 0o777 == 0o500


@pytest.mark.parametrize("kind", ["link", "file", "nothing"])
def test_what_is_no_folder_goes_as_it_is(kind: str, tmp_path: Path) -> None:
    outside, place = tmp_path / "outside", tmp_path / "place"
    (outside / "inner").mkdir(parents=True)
    if kind == "link":
        place.symlink_to(outside)
    elif kind == "file":
        place.write_text("")
    remove(place)
    assert [*tmp_path.iterdir()] == [outside]
    assert (outside / "inner").is_dir()


def _flagged(path: Path, flags: int) -> bool:
    """False where the file system or the container knows no such flags."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(handle, 0x40086602, struct.pack("i", flags))
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)


@_AS_ROOT
@pytest.mark.parametrize("flags", [0x10, 0x20], ids=["immutable", "append"])
def test_flags_that_bind_root_too_are_taken_off(flags: int, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").touch()
    for path in (folder / "a" / "file", folder / "a" / "b", folder / "a", folder):
        if not _flagged(path, flags):
            pytest.skip("this file system has no such flags")
    remove(folder)
    assert [*tmp_path.iterdir()] == []


_MOUNTED = """
import os, pathlib, sys
from fictl.judge.sandbox import kernel, namespaces
from fictl.removal import remove
place = pathlib.Path(sys.argv[1])
try:
    namespaces.enter(processes=False)
    kernel.mount(str(place / "outside"), str(place / "folder/a/bound"), "", 4096)
    kernel.mount("none", str(place / "folder/space"), "tmpfs")
except OSError:
    sys.exit(77)
(place / "folder/space/kept").touch()
remove(place / "folder")
left, = place.glob("left-*")
assert sum(1 for _ in left.rglob("kept")) == 2, [*left.rglob("*")]
assert not [*left.rglob("gone")]
"""


def test_what_is_mounted_inside_is_left_and_named(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Also a folder of the same file system, which looks like any other."""
    tmp_path = tmp_path_factory.mktemp("mounted")  # On a disk: a sandbox has its own /dev/shm.
    for name in ("outside", "folder/a/bound", "folder/space", "folder/b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside" / "kept").touch()
    (tmp_path / "folder" / "b" / "gone").touch()
    words = [sys.executable, "-c", _MOUNTED, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 0, done.stderr
    assert "Device or resource busy" in done.stderr
    assert done.stderr.count("remove it by hand") == 1
    assert (tmp_path / "outside" / "kept").exists()


def test_files_that_appear_meanwhile_go_or_are_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    handle = os.open(folder / "inner", os.O_RDONLY)
    ended = threading.Event()

    def write() -> None:
        while not ended.is_set():
            with suppress(FileNotFoundError):  # The folder has gone.
                os.close(os.open(secrets.token_hex(4), os.O_CREAT, dir_fd=handle))

    writer = threading.Thread(target=write)
    writer.start()
    remove(folder)
    ended.set()
    writer.join()
    os.close(handle)
    assert not folder.exists()
    assert all(path.name.startswith("left-") for path in tmp_path.iterdir())


def test_what_is_refused_is_left_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    for name in ("gone", "of\nothers"):
        (folder / "inner" / name).touch()
    unlink = os.unlink

    def refusing(path: str, **at: int) -> None:
        if "others" in str(path):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        unlink(path, **at)

    with caplog.at_level(logging.WARNING), monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refusing)
        remove(folder)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith("left-")
    assert [path.name for path in left.rglob("*") if path.is_file()] == ["of\nothers"]
    (said,) = caplog.messages
    assert str(left) in said
    assert r"'of\nothers' cannot be removed: Operation not permitted" in said


def test_too_much_is_left_after_a_while(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    with monkeypatch.context() as patch:
        patch.setattr(removal, "_LONGEST_SECONDS", -1.0)
        remove(tmp_path / "folder")
    assert "there is too much of it" in caplog.text
    assert not (tmp_path / "folder").exists()
