"""Parcels: bytes that one process hands to another in sealed memory, which nobody can change."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from typing import BinaryIO

_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL


def packed(source: BinaryIO) -> int:
    """Copy a file into sealed memory; the caller closes the handle."""
    handle = os.memfd_create("fictl-parcel", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with os.fdopen(os.dup(handle), "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, _SEALS)
        os.lseek(handle, 0, os.SEEK_SET)
    except BaseException:
        os.close(handle)
        raise
    return handle


def unpacked(handle: int, most: int) -> bytes:
    """Read a parcel from whomever, and close it; ValueError if it is none, or too large."""
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            raise ValueError(f"a parcel of {status.st_size} bytes")
        data = os.pread(handle, status.st_size, 0)
        if len(data) < status.st_size:
            raise ValueError("a parcel that changes")
        return data
    finally:
        os.close(handle)
