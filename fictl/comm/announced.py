"""A rank's announcement of its workspace, in which all ranks have to agree."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_BOOT = Path("/proc/sys/kernel/random/boot_id")
# Equal on all ranks, in words for a message.
_EQUAL = {
    "host": "on host",
    "device": "on device",
    "bytes": "of bytes",
    "fill": "filled with",
    "purpose": "for",
    # Whether kernels have clusters decides how rows are spread over blocks.
    "capability": "for GPUs of compute capability",
}


def announced(
    *,
    device: str,
    bytes: int,
    fill: int,
    purpose: str,
    gpu: Mapping[str, Any],
    handle: Any,
) -> dict[str, Any]:
    return {
        "host": _host(),
        "device": device,
        "bytes": bytes,
        "fill": fill,
        "purpose": purpose,
        **gpu,
        "handle": handle,
    }


def difference(every: Sequence[dict[str, Any]]) -> str:
    """Name the first thing in which the ranks differ; '' if they agree."""
    for key, words in _EQUAL.items():
        for rank, one in enumerate(every):
            if one[key] != every[0][key]:
                return (
                    f"rank {rank} makes a workspace {words} {one[key]!r}, "
                    f"rank 0 one {words} {every[0][key]!r}"
                )
    return ""


def _host() -> str:
    """Name the running system: hosts may have one name."""
    boot = ""
    with suppress(OSError):
        boot = _BOOT.read_text(encoding="ascii").strip()
    return f"{platform.node()} {boot}".strip()
