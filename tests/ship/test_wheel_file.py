"""A wheel as a file: its bytes, its order, its RECORD."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import zipfile
from pathlib import Path

import pytest

from fictl.ship.wheel_file import TooLarge, write_wheel

MEMBERS = {
    "b-1.dist-info/WHEEL": b"Wheel-Version: 1.0\n",
    "b/z": b"z" * 10_000,
    "b-1.dist-info/METADATA": b"Name: b\n",
    "b/a": b"",
}
LARGEST = 1 << 20


def _write(path: Path, largest: int = LARGEST) -> Path:
    write_wheel(path, {name: (lambda data=data: data) for name, data in MEMBERS.items()}, largest)
    return path


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return _write(tmp_path / "dist" / "b-1-py3-none-any.whl")


def test_its_bytes_are_the_same_whenever_it_is_made(wheel: Path, tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        again = _write(tmp_path / "elsewhere.whl")
    finally:
        os.umask(old)
    assert again.read_bytes() == wheel.read_bytes()


def test_a_wheel_that_is_there_already_is_left(wheel: Path) -> None:
    before = wheel.stat()
    _write(wheel)
    assert wheel.stat().st_ino == before.st_ino
    assert [path.name for path in wheel.parent.iterdir()] == [wheel.name]


def test_members_are_sorted_with_the_dist_info_and_the_record_last(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.namelist() == [
            "b/a",
            "b/z",
            "b-1.dist-info/METADATA",
            "b-1.dist-info/WHEEL",
            "b-1.dist-info/RECORD",
        ]


def test_every_member_is_an_ordinary_file_of_one_time(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        facts = {(m.date_time, m.create_system, m.external_attr) for m in archive.infolist()}
    assert facts == {((1980, 1, 1, 0, 0, 0), 3, 0o100644 << 16)}


@pytest.mark.parametrize(
    ("epoch", "year"), [("1780000000", 2026), ("0", 1980), ("8000000000", 2107)]
)
def test_the_time_is_that_of_source_date_epoch_as_far_as_a_zip_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, epoch: str, year: int
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    with zipfile.ZipFile(_write(tmp_path / "b.whl")) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {year}


def test_the_record_has_the_hash_and_the_size_of_every_other_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        rows = list(csv.reader(io.StringIO(archive.read("b-1.dist-info/RECORD").decode())))
    assert rows[-1] == ["b-1.dist-info/RECORD", "", ""]
    listed = {name: (digest, int(size)) for name, digest, size in rows[:-1]}
    assert listed == {
        name: ("sha256=" + _digest(data), len(data)) for name, data in MEMBERS.items()
    }


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def test_over_the_limit_nothing_is_written_and_what_was_there_stays(wheel: Path) -> None:
    before = wheel.read_bytes()
    with pytest.raises(TooLarge) as caught:
        _write(wheel, largest=len(before) - 1)
    assert caught.value.size == len(before)
    assert wheel.read_bytes() == before
    assert [path.name for path in wheel.parent.iterdir()] == [wheel.name]
