"""The workspace that ops use where the caller gives none: that of torch's default group."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from fictl.comm.group import Group
from fictl.comm.workspace import Workspace
from fictl.errors import UsageError

_LEAST_BYTES = 1 << 20
# (device, purpose) -> the default group, and its workspace.
_shared: dict[tuple[torch.device, str], tuple[Any, Workspace]] = {}
# Outgrown ones. Why they stay: graphs that were captured with them are replayed, on some ranks or
# on all. Each is at most half as large as the next, so that all of them are less than the last.
_outgrown: list[Workspace] = []


def shared_workspace(
    bytes: int, device: torch.device, *, purpose: str = "", fill: int = 0
) -> Workspace:
    """Return a workspace of torch's default group with room for `bytes`; without a group, of one
    rank.

    All ranks come here together when it is made, or has to grow: `bytes` is equal on all of them.
    Graphs that were captured before it grew go on with the one that they have.
    """
    key, group = (device, purpose), _default_group()
    known, workspace = _shared.get(key, (None, None))
    if workspace is not None and known is group and workspace.bytes >= bytes:
        return workspace
    if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        raise UsageError(
            f"a graph is being captured, and there is no workspace for {bytes} bytes yet",
            "call the op once before, or pass workspace=",
        )
    if workspace is not None and known is group:
        _outgrown.append(workspace)
    room = max(_LEAST_BYTES, 1 << (bytes - 1).bit_length())
    workspace = Workspace(
        Group.local(1)[0] if group is None else Group.of(group),
        room,
        fill=fill,
        purpose=purpose,
        device=device,
    )
    _shared[key] = (group, workspace)
    return workspace


def shared_ranks() -> int:
    """Return how many ranks share it."""
    group = _default_group()
    return 1 if group is None else int(group.size())


def _default_group() -> Any:
    """Return torch's default process group; None without one."""
    return dist.group.WORLD if dist.is_available() else None
