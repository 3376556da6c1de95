"""A wheel as a file: the same members give the same bytes, whenever and wherever it is written."""

from __future__ import annotations

import base64
import hashlib
import os
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from fictl import settings

# The oldest time that a zip can hold: 1980-01-01.
_OLDEST = 315_532_800
_NEWEST = 4_354_819_198
_MODE = 0o100644
_UNIX = 3

Content = Callable[[], bytes]


def _timestamp() -> int:
    """Return the time that every member gets: SOURCE_DATE_EPOCH, else the oldest that a zip holds."""
    return min(max(settings.SOURCE_DATE_EPOCH.get() or _OLDEST, _OLDEST), _NEWEST)


class TooLarge(Exception):
    """The wheel has more bytes than it may have; nothing was written."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def write_wheel(path: Path, members: Mapping[str, Content], largest: int) -> int:
    """Write the members, sorted, with the .dist-info and its RECORD last; return the file's size.

    A file with the same bytes is left as it is.
    """
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write(temporary, members)
        size = temporary.stat().st_size
        if size > largest:
            raise TooLarge(size)
        if not _same(path, temporary):
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return size


def _write(path: Path, members: Mapping[str, Content]) -> None:
    # The standard asks for the .dist-info at the end of the archive.
    names = sorted(members, key=lambda name: (".dist-info/" in name, name))
    record = []
    with zipfile.ZipFile(path, "x") as archive:
        for name in names:
            data = members[name]()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")
            _add(archive, name, data)
        info = names[-1].partition("/")[0]
        _add(archive, f"{info}/RECORD", "".join((*record, f"{info}/RECORD,,\n")).encode())


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, time.gmtime(_timestamp())[:6])
    member.create_system = _UNIX
    member.external_attr = _MODE << 16
    archive.writestr(member, data, zipfile.ZIP_DEFLATED, compresslevel=9)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.read_bytes() == other.read_bytes()
    except OSError:
        return False
