"""Sums in captured graphs, in bytes that ranks exchange: all of them capture the same ones."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import NamedTuple

# A digest of the communicator, bytes of the input, and its dtype.
_FORMAT = struct.Struct("<32sq24s")


class CapturedSum(NamedTuple):
    """An input's bytes and dtype."""

    nbytes: int
    dtype: str

    def __str__(self) -> str:
        return f"{self.nbytes} bytes of {self.dtype}"


def encoded(sums: Sequence[CapturedSum], communicator: str) -> list[int]:
    """Return bytes for all of them."""
    digest = hashlib.sha256(communicator.encode()).digest()
    packed = (_FORMAT.pack(digest, one.nbytes, one.dtype.encode()) for one in sums)
    return [*b"".join(packed)]


def require_equal(
    op: str,
    own: Sequence[CapturedSum],
    communicator: str,
    rank: int,
    handles: Sequence[Sequence[int]],
) -> None:
    """Raise in words unless every rank has captured what this one has, with this communicator."""
    expected = encoded(own, communicator)
    for other, handle in enumerate(handles):
        if list(handle) == expected:
            continue
        raise ValueError(
            f"{op}: {_difference(other, _decoded(op, other, handle, communicator), rank, own)}"
        )


def _decoded(op: str, rank: int, handle: Sequence[int], communicator: str) -> list[CapturedSum]:
    wanted = hashlib.sha256(communicator.encode()).digest()
    try:
        packed = list(_FORMAT.iter_unpack(bytes(handle)))
    except (ValueError, TypeError, struct.error):
        packed = [(b"", 0, b"")]
    if any(digest != wanted for digest, _, _ in packed):
        raise ValueError(
            f"{op}: the handles of rank {rank} are not what vllm_get_graph_buffer_ipc_meta() "
            "returned there for this communicator"
        )
    return [
        CapturedSum(nbytes, dtype.rstrip(b"\0").decode(errors="replace"))
        for _, nbytes, dtype in packed
    ]


def _difference(
    other: int, theirs: Sequence[CapturedSum], rank: int, own: Sequence[CapturedSum]
) -> str:
    if len(theirs) != len(own):
        return f"rank {other} has captured {len(theirs)} sums, rank {rank} {len(own)}"
    number = next(n for n, pair in enumerate(zip(theirs, own, strict=True)) if pair[0] != pair[1])
    return (
        f"sum {number} that was captured is of {theirs[number]} on rank {other}, of {own[number]} "
        f"on rank {rank}"
    )
